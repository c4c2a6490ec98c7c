"""A board: rows of panels, each a question that a person has, with what is asked to answer it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from vllmwatch.spec.alert import Board
from vllmwatch.spec.unit import NUMBER, Unit

GRID_COLUMNS = 24
_LONGEST_TITLE = 60
# Whether nothing is going on or nothing is known must look different.
NO_DATA = "No data: is it watched?"
NO_TRAFFIC = "No traffic"
NONE_FOUND = "None"


class Look(StrEnum):
    """How a panel shows its answer, by Grafana's name of the kind of panel."""

    LINES = "timeseries"
    NUMBER = "stat"
    TABLE = "table"
    HEAT = "heatmap"
    STATES = "state-timeline"
    HISTORY = "status-history"
    BARS = "bargauge"
    LOGS = "logs"
    TEXT = "text"


class Source(StrEnum):
    """Where a question goes."""

    METRICS = "prometheus"
    LOGS = "loki"


class Color(StrEnum):
    """What a color says, by Grafana's name of it."""

    WELL = "green"
    CARE = "orange"
    BAD = "red"
    PLAIN = "text"
    COLD = "blue"


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on a value takes another color; a text is the key of a threshold that the settings may change."""

    care_above: float | str | None = None
    bad_above: float | str | None = None
    care_below: float | str | None = None
    bad_below: float | str | None = None

    def __post_init__(self) -> None:
        above, below = (self.care_above, self.bad_above), (self.care_below, self.bad_below)
        if any(each is not None for each in above) and any(each is not None for each in below):
            raise ValueError("limits: what is bad lies above or below, not both")

    @property
    def any(self) -> bool:
        """Whether there is any limit."""
        return any(each is not None for each in (self.care_above, self.bad_above, self.care_below, self.bad_below))


@dataclass(frozen=True, slots=True)
class Query:
    """What a panel asks.

    `expression` is PromQL, or LogQL for `Source.LOGS`, with the variables of the board as Grafana writes them.
    `labels` are those of its series. `legend` names a series. In a table, `column` is the heading of its values and
    `unit` and `limits` are theirs. `at_once` asks for one moment in place of a course.
    Where the expression holds `<threshold>`, it stands for the value of the setting `threshold`, which models may have
    of their own: `<models>` is then the matcher of those that the value is for.
    """

    expression: str
    labels: tuple[str, ...]
    legend: str = ""
    source: Source = Source.METRICS
    column: str = ""
    unit: Unit = NUMBER
    limits: Limits = Limits()
    at_once: bool = False
    threshold: str = ""

    def __post_init__(self) -> None:
        if ("<threshold>" in self.expression) != bool(self.threshold):
            raise ValueError(f"query {self.expression!r}: <threshold> stands where a threshold is named")


@dataclass(frozen=True, slots=True)
class Value:
    """What a value means: the word that is shown in its place, and its color."""

    word: str
    color: Color


@dataclass(frozen=True, slots=True)
class Panel:
    """A panel: `title` is a question, `description` says what is measured.

    `alerts` watch what it shows, and link to their runbooks. `values` are words for values, `hidden` are columns of a
    table that are not shown, `text` is what a panel of text says, in Markdown. `width` is in columns of Grafana's grid,
    of which there are 24, `height` in its rows.
    """

    title: str
    look: Look
    description: str
    queries: tuple[Query, ...] = ()
    unit: Unit = NUMBER
    width: int = 8
    height: int = 8
    no_data: str = NO_DATA
    alerts: tuple[str, ...] = ()
    limits: Limits = Limits()
    stacked: bool = False
    at_most_one: bool = False
    values: Mapping[float, Value] = field(default_factory=dict, hash=False)
    hidden: tuple[str, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        if not self.title[:1].isupper() or not self.title.endswith("?") or "\n" in self.title:
            raise ValueError(f"panel {self.title!r}: the title is a question on one line, capital first")
        if len(self.title) > _LONGEST_TITLE:
            raise ValueError(f"panel {self.title!r}: the title is longer than {_LONGEST_TITLE} characters")
        if not self.description.endswith("."):
            raise ValueError(f"panel {self.title!r}: the description is one sentence or more")
        if (self.look is Look.TEXT) != bool(self.text) or (self.look is Look.TEXT) == bool(self.queries):
            raise ValueError(f"panel {self.title!r}: it asks, or it has a text")
        if not self.no_data:
            raise ValueError(f"panel {self.title!r}: it says what it means when there is nothing")
        if not 0 < self.width <= GRID_COLUMNS or self.height < 1:
            raise ValueError(f"panel {self.title!r}: it does not fit the grid")
        self._require_columns()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that all of its series have."""
        first, *others = [query.labels for query in self.queries] or [()]
        return tuple(label for label in first if all(label in labels for labels in others))

    def _require_columns(self) -> None:
        headings = [query.column for query in self.queries if query.column]
        if (self.look is Look.TABLE) != bool(headings) or (headings and len(set(headings)) < len(self.queries)):
            raise ValueError(f"panel {self.title!r}: in a table, and only there, each query has a column of its own")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a board: one question, and the panels that answer it, which fill whole lines of the grid."""

    title: str
    panels: tuple[Panel, ...]

    def __post_init__(self) -> None:
        for line in self.lines:
            if sum(panel.width for panel in line) != GRID_COLUMNS or len({panel.height for panel in line}) > 1:
                names = ", ".join(panel.title for panel in line)
                raise ValueError(f"row {self.title!r}: these fill no line of the grid: {names}")

    @property
    def lines(self) -> tuple[tuple[Panel, ...], ...]:
        """The panels line by line."""
        lines: list[list[Panel]] = []
        for panel in self.panels:
            if not lines or sum(each.width for each in lines[-1]) + panel.width > GRID_COLUMNS:
                lines.append([])
            lines[-1].append(panel)
        return tuple(map(tuple, lines))


@dataclass(frozen=True, slots=True)
class Variable:
    """What a board can be narrowed to: the label `name`, whose values `query` tells (label_values of Grafana)."""

    name: str
    word: str
    query: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A board: its uid, which alerts link to, the question it answers, what it can be narrowed to, and its rows."""

    uid: Board
    title: str
    question: str
    variables: tuple[Variable, ...]
    rows: tuple[Row, ...]
    has_logs: bool = False

    def __post_init__(self) -> None:
        names = [panel.title for panel in self.panels]
        if len(set(names)) < len(names):
            raise ValueError(f"board {self.uid}: two panels have the same title")
        if not self.question.endswith("?"):
            raise ValueError(f"board {self.uid}: a board answers a question")
        if not self.has_logs and any(query.source is Source.LOGS for panel in self.panels for query in panel.queries):
            raise ValueError(f"board {self.uid}: a panel asks for logs, which it does not have")

    @property
    def panels(self) -> tuple[Panel, ...]:
        """All panels in order."""
        return tuple(panel for row in self.rows for panel in row.panels)
