"""A recording: a figure that a rule of Prometheus keeps under a steady name; refused when it is nonsense."""

import re
from collections import Counter
from dataclasses import dataclass
from typing import Final

from vllmwatch.spec.metric import Label
from vllmwatch.spec.promql import without_texts
from vllmwatch.spec.unit import INFO, RATIO, Unit

PREFIX: Final = "vllmwatch"
INTERVALS_SECONDS: tuple[int, ...] = (15, 30)

REQUESTS = Unit("requests", "", "short")
REQUESTS_PER_SECOND = Unit("requests a second", "", "reqps")
TOKENS = Unit("tokens", "tokens", "short")
TOKENS_PER_SECOND = Unit("tokens a second", "tokens", "short")
EVENTS_PER_SECOND = Unit("events a second", "", "cps")
GPUS = Unit("GPUs, parts of one counted as such", "gpus", "short")
MULTIPLE = Unit("multiple; 1 is equal", "", "none")
JOULES_PER_TOKEN = Unit("joules a token", "_joules", "joule")
PRICE_PER_SECOND = Unit("price a second, in the currency of the settings", "_per_second", "none")
PRICE_PER_MILLION_TOKENS = Unit("price of a million tokens, in the currency of the settings", "tokens", "none")

LEVELS: dict[str, tuple[str, ...]] = {
    "engine": ("node", "server", "engine", "model_name"),
    "server": ("node", "server", "model_name"),
    "model": ("model_name",),
    "gpu": ("node", "uuid"),
    "server_gpu": ("node", "server", "uuid"),
    "engine_gpu": ("node", "server", "engine", "uuid"),
    "node": ("node",),
}
"""What each level's series are of: the labels that they have at least."""

_WINDOW = r"[1-9][0-9]*[smh]"
_HOW = re.compile(
    rf"now|max|min|sum|count|ratio|last{_WINDOW}"
    rf"|(?:rate|increase|avg|min|max|sum|slope){_WINDOW}"
    rf"|ratio_(?:rate|increase|avg){_WINDOW}"
    rf"|p[1-9][0-9]_{_WINDOW}"
)
_FIGURE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_GROUP = re.compile(r"[a-z]+(_[a-z]+)*")


@dataclass(frozen=True, slots=True)
class Recording:
    """A figure: `vllmwatch:<level>:<figure>:<how>`.

    `level` says whose the figure is and which labels it has at least; `own_labels` come after those. `how` says how it
    is reckoned: an aggregation (`max`, `sum`), a function with its window (`rate5m`, `avg1h`, `p99_5m`), a share
    (`ratio_rate5m`), or `now` for what holds at the moment. `help` is one sentence, `expression` is PromQL.
    """

    level: str
    figure: str
    how: str
    help: str
    unit: Unit
    expression: str
    own_labels: tuple[Label, ...] = ()

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"recording {self.name!r}: the level is one of {', '.join(LEVELS)}")
        if not _FIGURE.fullmatch(self.figure):
            raise ValueError(f"recording {self.name!r}: the figure is lower-case words joined by underscores")
        if not _HOW.fullmatch(self.how):
            raise ValueError(f"recording {self.name!r}: {self.how!r} does not say how a figure is reckoned")
        if not self.help or not self.help[0].isupper() or not self.help.endswith(".") or "\n" in self.help:
            raise ValueError(f"recording {self.name!r}: help must be one sentence, capital first, full stop at the end")
        if self.expression != self.expression.strip() or not self.expression:
            raise ValueError(f"recording {self.name!r}: an expression is asked for, without blanks around it")
        bare = without_texts(self.expression)
        if bare.count("(") != bare.count(")"):
            raise ValueError(f"recording {self.name!r}: the parentheses of the expression do not match")
        if [label for label, count in Counter(self.labels).items() if count > 1]:
            raise ValueError(f"recording {self.name!r}: a label is named twice")
        self._require_fitting_unit()

    def _require_fitting_unit(self) -> None:
        if self.unit is RATIO:
            fitting = self.figure.endswith(RATIO.suffix) or self.how.startswith("ratio")
        elif self.unit is INFO:
            fitting = self.figure == "info"
        else:
            fitting = self.figure.endswith(self.unit.suffix)
        if not fitting:
            raise ValueError(f"recording {self.name!r}: the name does not say that it is in {self.unit.word}")

    @property
    def name(self) -> str:
        """The name of the series."""
        return f"{PREFIX}:{self.level}:{self.figure}:{self.how}"

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels of the series, those of the level first."""
        return (*LEVELS.get(self.level, ()), *(label.name for label in self.own_labels))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Group:
    """Recordings of one theme, which Prometheus evaluates in order every `interval_seconds`."""

    theme: str
    help: str
    interval_seconds: int
    recordings: tuple[Recording, ...]

    def __post_init__(self) -> None:
        if not _GROUP.fullmatch(self.theme):
            raise ValueError(f"group {self.theme!r}: the theme is lower-case words joined by underscores")
        if self.interval_seconds not in INTERVALS_SECONDS:
            raise ValueError(f"group {self.theme!r}: the interval is one of {INTERVALS_SECONDS} seconds")
        if not self.recordings:
            raise ValueError(f"group {self.theme!r}: a group has at least one recording")
        names = Counter(recording.name for recording in self.recordings)
        if twice := [name for name, count in names.items() if count > 1]:
            raise ValueError(f"group {self.theme!r}: {twice[0]} is recorded twice")

    @property
    def name(self) -> str:
        """The name of the rule group, which stands beside those of others in Prometheus."""
        return f"{PREFIX}-{self.theme.replace('_', '-')}"
