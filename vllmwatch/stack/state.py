"""The state directory of `vllmwatch up`: what lies where, and that one `up` at a time uses it."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from vllmwatch.errors import StartError


class StateDirectory:
    """A folder for everything that `vllmwatch up` writes; made where it is missing.

    Raises StartError where it cannot be made.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self.programs = self.root / "prometheus"
        self.prometheus_config = self.root / "up" / "prometheus.yml"
        self.prometheus_data = self.root / "up" / "prometheus-data"
        self.rules = self.root / "up" / "rules"
        self.logs = self.root / "up" / "logs"
        try:
            for folder in (self.programs, self.prometheus_data, self.rules, self.logs):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StartError(
                f"{self.root} cannot be used: {error.strerror}",
                hint="name a folder that you may write to: `vllmwatch up --state FOLDER`",
            ) from error

    def write_rules(self, texts: Mapping[str, str]) -> None:
        """Put these rule files into place, each by its name, and take away those that were there before."""
        for name, text in texts.items():
            fresh = self.rules / f".{name}"
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(self.rules / name)
        for old in self.rules.glob("*.yml"):
            if old.name not in texts:
                old.unlink()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the directory; raises StartError where another process does.

        The kernel lets go of the lock when its holder ends, however it ends: a file left behind locks nobody out.
        """
        with (self.root / "up" / "lock").open("a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                lock.seek(0)
                raise StartError(
                    f"the stack already runs on {self.root} (process {lock.read().strip() or 'unknown'})",
                    hint="stop it first, or give this one a folder of its own: `vllmwatch up --state FOLDER`",
                ) from error
            lock.truncate(0)
            lock.write(str(os.getpid()))
            lock.flush()
            yield
