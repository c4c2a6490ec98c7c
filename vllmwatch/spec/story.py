"""A story: series that go in, and what the recordings must say of them; promtool plays it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_TIME = re.compile(r"([1-9][0-9]*[hms])+|0")
_SELECTOR = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*\{.*\}")


@dataclass(frozen=True, slots=True)
class Series:
    """A series that goes in: `selector` is its name and labels, `values` its samples in promtool's notation."""

    selector: str
    values: str

    def __post_init__(self) -> None:
        if not _SELECTOR.fullmatch(self.selector):
            raise ValueError(f"{self.selector!r}: a name with labels in braces is asked for")


@dataclass(frozen=True, slots=True)
class Sample:
    """A sample that is expected: its labels without the name, and its value, right to `DIGITS` behind the point."""

    labels: Mapping[str, str]
    value: float


DIGITS = 6
"""How far a value is compared: Prometheus' releases differ in the last bits."""


@dataclass(frozen=True, slots=True)
class Check:
    """All samples that a recording has at a time; no samples means that it must be absent."""

    time: str
    recording: str
    samples: tuple[Sample, ...]

    def __post_init__(self) -> None:
        if not _TIME.fullmatch(self.time):
            raise ValueError(f"{self.time!r}: a time such as 10m or 1h30m is asked for")


@dataclass(frozen=True, slots=True)
class Story:
    """A story of a theme: samples of `series` are `interval_seconds` apart from time 0 on; `title` is a claim."""

    title: str
    interval_seconds: int
    series: tuple[Series, ...]
    checks: tuple[Check, ...]

    def __post_init__(self) -> None:
        if not self.series or not self.checks:
            raise ValueError(f"story {self.title!r}: it has series and checks")
        selectors = [series.selector for series in self.series]
        if len(set(selectors)) != len(selectors):
            raise ValueError(f"story {self.title!r}: a series goes in twice")
