"""A case of an alert: series that go in, and when the alert fires, or does not; promtool plays it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from vllmwatch.spec.duration import seconds_of
from vllmwatch.spec.story import Series

INTERVAL_SECONDS = 14
"""Samples of cases are so far apart: off the grid on which rules are evaluated, since Prometheus 2 and 3 differ in
whether a window holds a sample that lies on its edge."""

_TIME = re.compile(r"([1-9][0-9]*[hms])+|0")


class Kind(StrEnum):
    """What a case shows: the alert fires, it stays quiet just before it would, or it survives messy data."""

    FIRES = "fires"
    QUIET = "quiet"
    MESSY = "messy"


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """Which alerts fire at a time: the labels of each without name, severity and team; none: it is quiet."""

    time: str
    firing: tuple[Mapping[str, str], ...]

    def __post_init__(self) -> None:
        if not _TIME.fullmatch(self.time):
            raise ValueError(f"{self.time!r}: a time such as 10m or 1h30m is asked for")


@dataclass(frozen=True, slots=True)
class Case:
    """A case; `title` is a claim. Its series are `INTERVAL_SECONDS` apart from time 0 on."""

    kind: Kind
    title: str
    series: tuple[Series, ...]
    checks: tuple[CaseCheck, ...]

    def __post_init__(self) -> None:
        if not self.checks:
            raise ValueError(f"case {self.title!r}: it checks nothing")
        fires = any(check.firing for check in self.checks)
        if self.kind is Kind.FIRES and not fires:
            raise ValueError(f"case {self.title!r}: it says that the alert fires, and expects it never")
        if self.kind is Kind.QUIET and fires:
            raise ValueError(f"case {self.title!r}: it says that the alert is quiet, and expects it to fire")
        selectors = [series.selector for series in self.series]
        if len(set(selectors)) != len(selectors):
            raise ValueError(f"case {self.title!r}: a series goes in twice")


def fires(title: str, *parts: Series | CaseCheck) -> Case:
    """Return a case in which the alert fires."""
    return _case(Kind.FIRES, title, parts)


def quiet(title: str, *parts: Series | CaseCheck) -> Case:
    """Return a case in which the alert stays quiet, and only just."""
    return _case(Kind.QUIET, title, parts)


def messy(title: str, *parts: Series | CaseCheck) -> Case:
    """Return a case of messy data, which the alert survives."""
    return _case(Kind.MESSY, title, parts)


def at(time: str, *firing: Mapping[str, str]) -> CaseCheck:
    """Return which alerts fire at a time."""
    return CaseCheck(time, firing)


def steady(value: float, lasts: str) -> str:
    """Return samples of one value for a time, in promtool's notation."""
    return f"{value:.12g}x{_steps(lasts) - 1}"


def not_a_number(lasts: str) -> str:
    """Return samples that are not numbers for a time."""
    return " ".join(["NaN"] * _steps(lasts))


def rising(per_second: float, lasts: str, begin: float = 0.0) -> str:
    """Return samples that rise (or fall) so much a second for a time, from `begin` on."""
    return f"{begin:.12g}{per_second * INTERVAL_SECONDS:+.12g}x{_steps(lasts) - 1}"


def flowing(*parts: tuple[float, str], begin: float = 0.0) -> str:
    """Return samples of a counter that rises so much a second for a time, and then goes on at other speeds."""
    samples = []
    for per_second, lasts in parts:
        samples.append(rising(per_second, lasts, begin))
        begin += per_second * INTERVAL_SECONDS * _steps(lasts)
    return then(*samples)


def missing(lasts: str) -> str:
    """Return no samples for a time."""
    return f"_x{_steps(lasts)}"


def then(*parts: str) -> str:
    """Return samples one after the other."""
    return " ".join(parts)


def _steps(lasts: str) -> int:
    return max(seconds_of(lasts) // INTERVAL_SECONDS, 1)


def _case(kind: Kind, title: str, parts: tuple[Series | CaseCheck, ...]) -> Case:
    series = tuple(part for part in parts if isinstance(part, Series))
    return Case(kind, title, series, tuple(part for part in parts if isinstance(part, CaseCheck)))
