"""Times of log lines: vLLM's have no year and no zone, so the year is the one that makes them past and near."""

import re
from datetime import datetime, timedelta

_WITHOUT_YEAR = re.compile(r"(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,6}))?")
# Clocks of two hosts differ, and zones by up to 14 hours: a little in the future is still this year.
_AHEAD = timedelta(days=1)
# 29 February may lie so many years back.
_YEARS = 9


def with_year(text: str, now: datetime) -> datetime | None:
    """Return the time that a line has, without a zone where the line has none; None where it cannot be read.

    `now` is when the line was written at the latest, without a zone.
    """
    match = _WITHOUT_YEAR.fullmatch(text)
    if match is None:
        return _complete(text)
    month, day, hour, minute, second = (int(part) for part in match.groups()[:5])
    microsecond = int((match[6] or "0").ljust(6, "0"))
    for year in range((now + _AHEAD).year, now.year - _YEARS, -1):
        try:
            time = datetime(year, month, day, hour, minute, second, microsecond)  # noqa: DTZ001 - the line has no zone
        except ValueError:  # no such day in this year, or in none
            continue
        if time <= now + _AHEAD:
            return time
    return None


def _complete(text: str) -> datetime | None:
    if not re.match(r"\d{4}-\d{2}-\d{2}[ T]", text):
        return None
    try:
        return datetime.fromisoformat(text.replace(",", "."))
    except ValueError:
        return None
