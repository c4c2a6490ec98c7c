"""Times as Prometheus writes them."""

import re

_PART = re.compile(r"(\d+)([hms])")
_UNIT_SECONDS = {"h": 3600, "m": 60, "s": 1}


def seconds_of(time: str) -> int:
    """Return the seconds of a time such as 1h30m."""
    return sum(int(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(time))
