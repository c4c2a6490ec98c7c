"""Puts the two Alertmanager versions that the tests run into place: the oldest that is supported, and the newest.

Run as `python -m tests.real.alertmanager_programs`. They come from the machine's own distribution; `amtool` lies beside
each.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.real.places import ALERTMANAGER_FOLDER, PeerUnavailableError
from vllmwatch.errors import VllmwatchError
from vllmwatch.stack.apt import PackageArchive, machine_distribution
from vllmwatch.stack.prometheus import version_of
from vllmwatch.stack.version import Version

_PACKAGE = "prometheus-alertmanager"
# By age: the suites that carry it. Debian 13 has 0.28, Debian 14 a newer one; Ubuntu 25.10 and 26.04 likewise.
SUITES: Mapping[str, Mapping[str, str]] = {
    "oldest": {"debian": "trixie", "ubuntu": "questing"},
    "newest": {"debian": "forky", "ubuntu": "resolute"},
}
AT_LEAST = Version(0, 28)


def fetch(age: str) -> Path:
    """Put one version into place and return the program; raises PeerUnavailableError."""
    distribution = machine_distribution()
    if distribution is None:
        raise PeerUnavailableError(
            "Alertmanager comes from the packages of Debian or Ubuntu, and this machine has none"
        )
    suite = SUITES[age][distribution.name]
    program = _program(suite)
    if _is_new_enough(program):
        return program
    archive = PackageArchive(distribution, suite, ALERTMANAGER_FOLDER / f"{suite}.apt")
    try:
        archive.update()
        archive.unpack([_PACKAGE], ALERTMANAGER_FOLDER / suite)
    except VllmwatchError as error:
        raise PeerUnavailableError(f"no {age} Alertmanager: {error.message}") from error
    finally:
        archive.forget()
    return find(age)


def find(age: str) -> Path:
    """Return a program that is in place; raises PeerUnavailableError where it is not."""
    distribution = machine_distribution()
    program = _program(SUITES[age][distribution.name]) if distribution is not None else None
    if program is None or not _is_new_enough(program):
        raise PeerUnavailableError(f"the {age} Alertmanager is not there: python -m tests.real.alertmanager_programs")
    return program


def command(program: Path) -> list[str]:
    """Return the words that start an unpacked Alertmanager.

    Debian's looks for its default templates in /usr/share alone, so it runs in a mount namespace in which what was
    unpacked lies over that.
    """
    share = program.parents[1] / "share"
    script = 'mount -t overlay overlay -o "lowerdir=$1:/usr/share" /usr/share && shift && exec "$@"'
    namespaces = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
    return [*namespaces, "sh", "-c", script, "sh", str(share), str(program)]


def _program(suite: str) -> Path:
    return ALERTMANAGER_FOLDER / suite / "usr" / "bin" / _PACKAGE


def _is_new_enough(program: Path) -> bool:
    version = version_of(program) if program.exists() else None
    return version is not None and version >= AT_LEAST


if __name__ == "__main__":
    try:
        for each in SUITES:
            print(f"Alertmanager {version_of(fetch(each))}")
    except PeerUnavailableError as unavailable:
        sys.exit(str(unavailable))
