"""Takes a program out of the distribution's package, without installing it: no service starts, root is not needed."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from vllmwatch.errors import StartError
from vllmwatch.stack.apt_sources import (
    COMPONENTS,
    Distribution,
    Source,
    archive_of,
    candidate,
    read_deb822,
    read_one_line,
    read_os_release,
    source_line,
)
from vllmwatch.stack.version import Version

OWN_PROMETHEUS = (
    "put a Prometheus of at least 2.53 on PATH, or run `vllmwatch up --no-prometheus` and scrape the exporter"
)
_STEP_SECONDS = 600


def machine_distribution(os_release: Path = Path("/etc/os-release")) -> Distribution | None:
    """Return this machine's distribution, or None where its packages are of no use to us."""
    if not os_release.exists() or shutil.which("apt-get") is None or shutil.which("dpkg") is None:
        return None
    return read_os_release(os_release.read_text())


def machine_sources(apt: Path = Path("/etc/apt")) -> list[Source]:
    """Return the package sources that this machine is set up with."""
    one_line = [apt / "sources.list", *sorted((apt / "sources.list.d").glob("*.list"))]
    deb822 = sorted((apt / "sources.list.d").glob("*.sources"))
    sources = [source for path in one_line if path.exists() for source in read_one_line(path.read_text())]
    return sources + [source for path in deb822 for source in read_deb822(path.read_text())]


class PackageArchive:
    """One suite of the machine's own archive, read with lists and caches in a private folder.

    Raises StartError where the machine names no archive of its distribution.
    """

    def __init__(
        self, distribution: Distribution, suite: str, folder: Path, sources: Iterable[Source] | None = None
    ) -> None:
        source = archive_of(machine_sources() if sources is None else sources, distribution)
        if source is None:
            raise StartError(
                f"no package source for {distribution.name} {distribution.codename} in /etc/apt", hint=OWN_PROMETHEUS
            )
        self.suite = suite
        self._folder = folder.absolute()
        self._line = source_line(source, suite, COMPONENTS[distribution.name])

    def update(self) -> None:
        """Read the suite's list of packages; raises StartError with apt's own words."""
        for name in ("lists/partial", "cache/archives/partial", "deb"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        (self._folder / "sources.list").write_text(self._line)
        self._apt("apt-get", "update", "--error-on=any")

    def candidate(self, package: str) -> Version | None:
        """Return the newest version of a package in the suite, or None where the suite has none."""
        shown = self._run(["apt-cache", *self._options(), "show", package])
        return candidate(shown.stdout) if shown.returncode == 0 else None

    def needs(self, package: str, prefixes: tuple[str, ...]) -> list[str]:
        """Return the packages that a package needs, directly or not, whose names begin with one of these."""
        asked = ["depends", "--recurse", "--important", package]
        shown = self._run(["apt-cache", *self._options(), *asked])
        # Real packages stand at the beginning of a line; what only has a name is in angle brackets.
        return sorted({line for line in shown.stdout.splitlines() if line.startswith(prefixes)})

    def unpack(self, packages: Sequence[str], target: Path) -> None:
        """Download packages and unpack them into a folder, which is there whole or not at all."""
        downloads = self._folder / "deb"
        partial = target.absolute().with_name(f"{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        self._apt("apt-get", "download", *packages)
        for deb in sorted(downloads.glob("*.deb")):
            self._checked(["dpkg", "-x", str(deb), str(partial)], f"unpacking {deb.name}")
        shutil.rmtree(target, ignore_errors=True)
        partial.rename(target)

    def forget(self) -> None:
        """Remove the lists and the downloads (about 100 MB)."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _options(self) -> list[str]:
        folder = self._folder
        settings = {
            "Dir::Etc::SourceList": folder / "sources.list",
            "Dir::Etc::SourceParts": "/dev/null",
            "Dir::Etc::Preferences": "/dev/null",
            "Dir::Etc::PreferencesParts": "/dev/null",
            "Dir::State::Lists": folder / "lists",
            "Dir::Cache": folder / "cache",
            "Acquire::Languages": "none",
            "Acquire::Retries": "2",
            # As root apt reads downloads as the user _apt, who may not enter our folder.
            **({"APT::Sandbox::User": "root"} if os.geteuid() == 0 else {}),
        }
        return [part for key, value in settings.items() for part in ("-o", f"{key}={value}")]

    def _apt(self, program: str, *arguments: str) -> None:
        command = [program, *self._options(), "--quiet=2", *arguments]
        self._checked(command, f"{program} {arguments[0]} for {self.suite}")

    def _checked(self, command: Sequence[str], what: str) -> None:
        done = self._run(command)
        if done.returncode != 0:
            words = (done.stderr.strip() or done.stdout.strip()).splitlines()
            raise StartError(f"{what} failed: {words[0] if words else done.returncode}", hint=OWN_PROMETHEUS)

    def _run(self, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                cwd=self._folder / "deb",
                env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_STEP_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise StartError(
                f"{command[0]} for {self.suite} is not done after {_STEP_SECONDS} s", hint=OWN_PROMETHEUS
            ) from error
