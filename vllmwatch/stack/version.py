"""Versions of Prometheus, read from what programs and packages say of themselves."""

import re
from dataclasses import dataclass

_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A release: major, minor, patch."""

    major: int
    minor: int
    patch: int = 0

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


# The oldest Prometheus whose behaviour the rules and the configuration count on (a long-term release).
MINIMUM = Version(2, 53)


def parse(text: str) -> Version | None:
    """Return the first release number in a text ("prometheus, version 2.53.3+ds1 (…)", "2:3.5.3-1"), or None."""
    upstream = re.sub(r"^\d+:", "", text.strip())
    found = _NUMBERS.search(upstream)
    if found is None:
        return None
    return Version(*(int(number or 0) for number in found.groups()))
