"""Lines of files have their own time, which is never in the future, whatever the year, the zone or the day."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest

from tests.render.alloy.interpreter import Entry, World, process
from tests.render.alloy.shipped import EVERYTHING, statements
from tests.render.alloy.templates import Clock

_BERLIN = ZoneInfo("Europe/Berlin")


def stored(texts: list[str], now: datetime, zone: str = "Local", local: tzinfo = UTC, **labels: str) -> list[datetime]:
    """Return the times under which lines are stored that were read now; one a line."""
    settings = replace(EVERYTHING, time_zone=zone)
    given = {"node": "gpu1", "server": "gpu1:8000", "filename": "/srv/b.log", **labels}
    entries = [Entry(text, dict(given), now) for text in texts]
    return [entry.time for entry in process(statements(settings), "servers", entries, World(clock=Clock(now, local)))]


def line(time: str) -> str:
    return f"(APIServer pid=7) INFO {time} [a.py:1] x"


@pytest.mark.parametrize(
    ("time", "now", "expected"),
    [
        ("11-30 19:16:03", "2026-12-01T12:00:00", "2026-11-30T19:16:03"),
        ("11-30 19:16:03", "2027-02-01T12:00:00", "2026-11-30T19:16:03"),
        ("12-31 23:59:59", "2027-01-01T00:00:00", "2026-12-31T23:59:59"),
        ("03-01 00:00:00", "2026-12-01T12:00:00", "2026-03-01T00:00:00"),
        ("01-15 00:00:00", "2026-12-01T12:00:00", "2026-01-15T00:00:00"),
        ("02-29 10:00:00", "2028-03-01T12:00:00", "2028-02-29T10:00:00"),
        ("2025-11-30 19:16:03,250", "2026-12-01T12:00:00", "2025-11-30T19:16:03.250000"),
    ],
)
def test_a_time_gets_the_year_that_makes_it_past(time: str, now: str, expected: str) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert stored([line(time)], moment) == [datetime.fromisoformat(expected).replace(tzinfo=UTC)]


@pytest.mark.parametrize(
    ("time", "now"),
    [
        ("12-01 13:00:00", "2026-12-01T12:00:00"),  # the zone is another
        ("01-01 00:30:00", "2026-12-31T23:30:00"),
        ("02-29 10:00:00", "2026-03-01T12:00:00"),  # there is no such day this year
        ("99-99 99:99:99", "2026-12-01T12:00:00"),
    ],
)
def test_a_time_that_cannot_be_is_that_of_reading(time: str, now: str) -> None:
    moment = datetime.fromisoformat(now).replace(tzinfo=UTC)
    assert stored([line(time)], moment) == [moment]


def test_the_zone_is_that_of_the_settings_or_of_the_host() -> None:
    now = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
    half_past_eleven = datetime(2026, 12, 1, 11, 30, tzinfo=UTC)
    assert stored([line("12-01 12:30:00")], now, "Europe/Berlin") == [half_past_eleven]
    assert stored([line("12-01 12:30:00")], now, local=_BERLIN) == [half_past_eleven]


@pytest.mark.parametrize(
    "written", ["2026-11-30T10:00:31.5Z", "2026-11-30 10:00:31,500+00:00", "2026-11-30T12:00:31.5+02:00"]
)
def test_a_time_with_year_and_zone_is_taken_as_it_is(written: str) -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    assert stored([f"[{written}] [ERROR] engine is dead"], now, "Asia/Tokyo") == [
        datetime(2026, 11, 30, 10, 0, 31, 500000, tzinfo=UTC)
    ]


def test_a_line_without_a_time_comes_behind_the_one_before_it() -> None:
    now = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
    before, without, after = stored([line("11-30 10:00:00"), "INFO:     x", line("11-30 10:00:01")], now)
    assert before < without < after
    assert without - before <= timedelta(milliseconds=1)


def test_the_journal_and_docker_know_the_time() -> None:
    now = datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC)
    assert stored([line("11-30 10:00:00")], now, filename="") == [now]
