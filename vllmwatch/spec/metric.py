"""A metric that vllmwatch itself exports: declared once, refused when its name and its meaning disagree."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from vllmwatch.spec.unit import COUNT, INFO, Unit

PREFIX = "vllmwatch_"
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_TOTAL = "_total"


class Kind(StrEnum):
    """The Prometheus type of a metric of ours."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Label:
    """A label: its name, what it says, and, where the set is closed, every value with its meaning."""

    name: str
    help: str
    values: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f"label {self.name!r}: lower-case words joined by underscores are asked for")
        if self.name == "severity":
            raise ValueError("label 'severity' belongs to alerts")
        _require_sentence(f"label {self.name!r}", self.help)


# Compared by identity: a metric is declared once, and looked up a thousand times in a scrape.
@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """A metric: `name` ends in the unit's suffix (and `_total` for a counter), `help` is one sentence.

    `labels` are in the order in which values are given when a sample is added.
    """

    name: str
    help: str
    kind: Kind
    unit: Unit
    labels: tuple[Label, ...]

    def __post_init__(self) -> None:
        if not self.name.startswith(PREFIX) or not _NAME.fullmatch(self.name):
            raise ValueError(f"metric {self.name!r}: the name must start with {PREFIX!r} and be lower-case words")
        _require_sentence(f"metric {self.name!r}", self.help)
        stem = self.name.removesuffix(_TOTAL)
        if (self.kind is Kind.COUNTER) != (stem != self.name):
            raise ValueError(f"metric {self.name!r}: counters, and only they, end in {_TOTAL!r}")
        if not stem.endswith(self.unit.suffix):
            raise ValueError(f"metric {self.name!r}: a name in {self.unit.word} ends in {self.unit.suffix!r}")
        if self.kind is Kind.COUNTER and self.unit is INFO:
            raise ValueError(f"metric {self.name!r}: an info series is a gauge")
        names = [label.name for label in self.labels]
        if len(set(names)) != len(names):
            raise ValueError(f"metric {self.name!r}: a label is named twice")

    def __str__(self) -> str:
        return self.name


def gauge(name: str, help_text: str, unit: Unit, *labels: Label) -> Metric:
    """Declare a gauge; `name` is given without the `vllmwatch_` prefix."""
    return Metric(PREFIX + name, help_text, Kind.GAUGE, unit, labels)


def counter(name: str, help_text: str, *labels: Label, unit: Unit = COUNT) -> Metric:
    """Declare a counter; `name` is given without the `vllmwatch_` prefix and with `_total`."""
    return Metric(PREFIX + name, help_text, Kind.COUNTER, unit, labels)


def _require_sentence(where: str, text: str) -> None:
    if not text or not text[0].isupper() or not text.endswith(".") or "\n" in text:
        raise ValueError(f"{where}: help must be one sentence, capital first and a full stop at the end")
