"""Puts the two Prometheus versions that the tests run into place: the oldest that is supported, and the newest.

Run as `python -m tests.real.prometheus_programs`. They come from the machine's own distribution.
"""

import sys
from collections.abc import Mapping

from tests.real.places import PROMETHEUS_FOLDER, PeerUnavailableError
from vllmwatch.errors import VllmwatchError
from vllmwatch.stack.apt import machine_distribution
from vllmwatch.stack.prometheus import Prometheus, fetch_from_suite, unpacked
from vllmwatch.stack.version import Version

# By age: the suites of each distribution that carry it, and the release that it must at least be.
# Debian 13 has the 2.53 line and Debian 14 the 3.x line; Ubuntu 25.10 and 26.04 likewise.
SUITES: Mapping[str, Mapping[str, str]] = {
    "oldest": {"debian": "trixie", "ubuntu": "questing"},
    "newest": {"debian": "forky", "ubuntu": "resolute"},
}
AT_LEAST = {"oldest": Version(2, 53), "newest": Version(3, 0)}


def fetch(age: str) -> Prometheus:
    """Put one version into place and return it; raises PeerUnavailableError."""
    distribution = machine_distribution()
    if distribution is None:
        raise PeerUnavailableError("Prometheus comes from the packages of Debian or Ubuntu, and this machine has none")
    try:
        return fetch_from_suite(distribution, SUITES[age][distribution.name], PROMETHEUS_FOLDER, AT_LEAST[age])
    except VllmwatchError as error:
        raise PeerUnavailableError(f"no {age} Prometheus: {error.message}") from error


def find(age: str) -> Prometheus:
    """Return a version that is in place; raises PeerUnavailableError where it is not."""
    distribution = machine_distribution()
    program = unpacked(PROMETHEUS_FOLDER / SUITES[age][distribution.name]) if distribution else None
    if program is None or program.version < AT_LEAST[age]:
        raise PeerUnavailableError(f"the {age} Prometheus is not there: python -m tests.real.prometheus_programs")
    return program


if __name__ == "__main__":
    try:
        for each in SUITES:
            print(f"Prometheus {fetch(each).version}")
    except PeerUnavailableError as unavailable:
        sys.exit(str(unavailable))
