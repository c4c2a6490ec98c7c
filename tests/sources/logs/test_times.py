"""A time without a year is past and near; one that is none is not guessed."""

from datetime import datetime

import pytest

from vllmwatch.sources.logs.ranks import ranks
from vllmwatch.sources.logs.times import with_year


@pytest.mark.parametrize(
    ("text", "now", "expected"),
    [
        ("11-30 19:16:03", "2026-12-01T00:00:00", "2026-11-30T19:16:03"),
        ("12-31 23:59:59", "2027-01-01T00:00:05", "2026-12-31T23:59:59"),
        ("01-01 00:00:01", "2026-12-31T23:59:59", "2027-01-01T00:00:01"),
        ("12-02 10:00:00", "2026-12-01T00:00:00", "2025-12-02T10:00:00"),
        ("02-29 10:00:00", "2026-12-01T00:00:00", "2024-02-29T10:00:00"),
        ("11-30 19:16:03,250", "2026-12-01T00:00:00", "2026-11-30T19:16:03.250000"),
        ("2026-11-30 19:36:36,014", "2030-01-01T00:00:00", "2026-11-30T19:36:36.014000"),
        ("2026-11-30T19:36:36Z", "2030-01-01T00:00:00", "2026-11-30T19:36:36+00:00"),
        ("13-40 19:16:03", "2026-12-01T00:00:00", None),
        ("2026-13-40 19:16:03", "2026-12-01T00:00:00", None),
        ("171167.620236", "2026-12-01T00:00:00", None),
        ("", "2026-12-01T00:00:00", None),
    ],
)
def test_year(text: str, now: str, expected: str | None) -> None:
    found = with_year(text, datetime.fromisoformat(now))
    assert (found and found.isoformat()) == expected


@pytest.mark.parametrize(
    ("process", "expected"),
    [
        ("Worker_DP1_PP0_TP3", {"dp": 1, "pp": 0, "tp": 3}),
        ("EngineCore_DP12", {"dp": 12}),
        ("APIServer", {}),
        ("ApiServer_1", {}),
    ],
)
def test_ranks(process: str, expected: dict[str, int]) -> None:
    assert ranks(process) == expected
