"""A metric of vLLM's: the canonical name that vllmwatch gives it, and every name that it has had."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


class UpstreamKind(StrEnum):
    """The Prometheus type of a metric of vLLM's."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"
    SUMMARY = "summary"


PARTS: dict[UpstreamKind, tuple[str, ...]] = {
    UpstreamKind.HISTOGRAM: ("_bucket", "_sum", "_count"),
    UpstreamKind.SUMMARY: ("_sum", "_count"),
}
"""What the series of a family are called behind its name, for the types that have several."""


class Scope(StrEnum):
    """Whose metric it is: an engine's (one series a data-parallel rank) or the whole server's."""

    ENGINE = "engine"
    SERVER = "server"


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """A release of vLLM."""

    major: int
    minor: int
    patch: int

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read `0.32.0` (what follows the third number is ignored); raise ValueError for anything else."""
        match = _VERSION.match(text)
        if match is None:
            raise ValueError(f"{text!r} is not a version such as 0.32.0")
        return cls(*(int(part) for part in match.groups()))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


NEWEST = Version(0, 33, 0)
"""The newest release that the catalogue was compared with."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that a metric has had, from release `since` to release `until`, both included.

    `help_contains`, where set, must stand in the family's HELP text for the name to have this meaning.
    """

    name: str
    since: Version
    until: Version = NEWEST
    help_contains: str = ""

    def __post_init__(self) -> None:
        if self.since > self.until:
            raise ValueError(f"{self.name}: since {self.since} is after until {self.until}")

    def existed_in(self, version: Version) -> bool:
        """Whether releases of this version exposed the name."""
        return self.since <= version <= self.until


@dataclass(frozen=True, slots=True)
class UpstreamMetric:
    """A metric of vLLM's.

    `names` has the canonical name first, as exposed (counters with `_total`), then older ones, newest first.
    `unit` is a word for readers: vLLM's own names do not always tell (`kv_cache_usage_perc` is a ratio).
    `unknown_value` is what the metric says when it does not know; such samples are left out.
    `condition`, where set, names the option or feature without which the metric does not appear.
    """

    help: str
    kind: UpstreamKind
    unit: str
    scope: Scope
    names: tuple[Name, ...]
    labels: tuple[str, ...] = ()
    condition: str = ""
    unknown_value: float | None = None

    def __post_init__(self) -> None:
        if not self.names:
            raise ValueError("an upstream metric has at least one name")
        if not self.help or not self.help[0].isupper() or not self.help.endswith("."):
            raise ValueError(f"{self.name}: help must be one sentence, capital first and a full stop at the end")
        for name in self.names:
            if (self.kind is UpstreamKind.COUNTER) and not name.name.endswith("_total"):
                raise ValueError(f"{name.name}: counters are named as exposed, with _total")

    @property
    def name(self) -> str:
        """The canonical name."""
        return self.names[0].name

    @property
    def base(self) -> str:
        """The canonical name without the suffix that text format and OpenMetrics treat differently."""
        return self.name.removesuffix("_total") if self.kind is UpstreamKind.COUNTER else self.name

    def existed_in(self, version: Version) -> Iterator[Name]:
        """Yield the names under which a release exposed the metric."""
        return (name for name in self.names if name.existed_in(version))

    def __str__(self) -> str:
        return self.name
