"""The state that drives the stand-in library: lines of `key=value`, written whole at each change."""

import os
from collections.abc import Mapping
from pathlib import Path

XID_CRITICAL_ERROR = 8


class State:
    """A state file. Each change is on disk when the call returns, and the library sees it at its next call."""

    def __init__(self, path: Path, lines: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.lines: dict[str, str] = dict(lines or {})
        self._events = 0
        self.write()

    def write(self) -> None:
        """Write the file in one move, so that no reader sees half of it."""
        text = "".join(f"{key}={value}\n" for key, value in self.lines.items())
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        fresh.write_text(text)
        fresh.replace(self.path)

    def replace(self, lines: Mapping[str, str]) -> None:
        """Put another host in the place of this one."""
        self.lines = dict(lines)
        self.write()

    def set(self, key: str, value: object) -> None:
        """Set one line."""
        self.lines[key] = str(value)
        self.write()

    def unset(self, key: str) -> None:
        """Take one line away; what it answered is then not supported."""
        self.lines.pop(key, None)
        self.write()

    def fail(self, key: str, code: int) -> None:
        """Make a call answer with an NVML error."""
        self.set(key, f"error:{code}")

    def lose_gpu(self, gpu: int, code: int = 15) -> None:
        """Make every call about one GPU answer GPU_IS_LOST."""
        self.fail(f"gpu.{gpu}.*", code)

    def lose_driver(self, code: int = 1) -> None:
        """Make every call, and a new initialization, fail."""
        self.fail("*", code)
        self.fail("nvmlInit_v2", 9)

    def restore_driver(self) -> None:
        """Bring the driver back."""
        self.lines.pop("nvmlInit_v2", None)
        self.unset("*")

    def raise_xid(self, gpu: int, xid: int) -> None:
        """Raise one XID event for those who wait for it."""
        self.set(f"event.{self._events}", f"{gpu},{XID_CRITICAL_ERROR},{xid},-")
        self._events += 1
