"""Finds a Prometheus that is new enough: on PATH, unpacked earlier, or in the distribution's packages."""

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vllmwatch.errors import StartError
from vllmwatch.stack.apt import OWN_PROMETHEUS, PackageArchive, machine_distribution
from vllmwatch.stack.apt_sources import Distribution, suites_from
from vllmwatch.stack.version import MINIMUM, Version, parse

Say = Callable[[str], None]
_VERSION_SECONDS = 20
# Debian keeps the scripts and fonts of the page in packages of their own, to which links in its web folder lead.
_PAGE_PACKAGES = ("libjs-", "fonts-")


@dataclass(frozen=True, slots=True)
class Prometheus:
    """A Prometheus program and its version; `promtool` lies beside it.

    `web` is the folder of its page, where that is neither in the program nor where the program looks by itself.
    """

    path: Path
    version: Version
    web: Path | None = None

    @property
    def promtool(self) -> Path:
        """The checking tool of the same release."""
        return self.path.with_name("promtool")


def version_of(path: Path) -> Version | None:
    """Ask a program for its version; None where it cannot run here or says none."""
    try:
        done = subprocess.run(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse((done.stdout or done.stderr).partition("version")[2]) if done.returncode == 0 else None


def unpacked(folder: Path) -> Prometheus | None:
    """Return the Prometheus that was unpacked into a folder, or None."""
    path = folder / "usr" / "bin" / "prometheus"
    version = version_of(path) if path.exists() else None
    return Prometheus(path, version, _web(folder.absolute())) if version is not None else None


def _web(folder: Path) -> Path | None:
    """Return the folder of the page, or None where it is not whole: newer packages have the folder, and no page."""
    web = folder / "usr" / "share" / "prometheus" / "web"
    scripts = web / "static"
    whole = (web / "templates" / "_base.html").exists() and scripts.exists()
    return web if whole and all(each.exists() for each in scripts.iterdir()) else None


def fetch_from_suite(distribution: Distribution, suite: str, folder: Path, minimum: Version = MINIMUM) -> Prometheus:
    """Unpack Prometheus and promtool of one suite into `folder/SUITE`, unless they are there already.

    Raises StartError where the suite has none, an older one than `minimum`, or one that does not run here.
    """
    target = folder / suite
    there = unpacked(target)
    if there is not None and there.version >= minimum:
        return there
    archive = PackageArchive(distribution, suite, folder / f"{suite}.apt")
    try:
        archive.update()
        offered = archive.candidate("prometheus")
        if offered is None or offered < minimum:
            offer = f"Prometheus {offered}" if offered else "no Prometheus"
            raise StartError(f"{suite} has {offer}, at least {minimum} is needed", hint=OWN_PROMETHEUS)
        # Newer suites carry promtool in a package of its own.
        promtool = ["promtool"] if archive.candidate("promtool") else []
        archive.unpack(["prometheus", *promtool, *archive.needs("prometheus", _PAGE_PACKAGES)], target)
    finally:
        archive.forget()
    fetched = unpacked(target)
    if fetched is None:
        raise StartError(f"the Prometheus of {suite} does not run on this machine", hint=OWN_PROMETHEUS)
    return fetched


def fetch(folder: Path, say: Say, minimum: Version = MINIMUM) -> Prometheus:
    """Take Prometheus from the machine's own distribution: its own suite first, then newer ones.

    Raises StartError where there is no such distribution, or no suite has one that is new enough.
    """
    distribution = machine_distribution()
    if distribution is None:
        raise StartError("no Prometheus on PATH, and this machine is neither Debian nor Ubuntu", hint=OWN_PROMETHEUS)
    refusals = []
    for suite in suites_from(distribution):
        say(f"Looking for Prometheus in the packages of {distribution.name} {suite}")
        try:
            return fetch_from_suite(distribution, suite, folder, minimum)
        except StartError as error:
            refusals.append(error.message)
    raise StartError(f"no Prometheus could be had: {'; '.join(refusals)}", hint=OWN_PROMETHEUS)


def find(folder: Path, say: Say, *, search_path: str | None = None, minimum: Version = MINIMUM) -> Prometheus:
    """Return a Prometheus of at least `minimum`; one on PATH that is older is named and left aside.

    `folder` holds those that were unpacked; `search_path` stands for PATH. Raises StartError as `fetch` does.
    """
    on_path = shutil.which("prometheus", path=search_path)
    if on_path is not None:
        version = version_of(Path(on_path))
        if version is not None and version >= minimum:
            return Prometheus(Path(on_path), version)
        found_version = f"Prometheus {version}" if version else "a Prometheus that does not tell its version"
        say(f"{on_path} is {found_version}: at least {minimum} is needed, so it is left aside")
    there = [found for each in sorted(folder.glob("*")) if (found := unpacked(each)) and found.version >= minimum]
    if there:
        return max(there, key=lambda found: found.version)
    return fetch(folder, say, minimum)
