"""Samples of our own metrics, gathered for a page and written in text format 0.0.4."""

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter, pos
from typing import Any

from vllmwatch.spec.metric import Metric

# Labels of servers come and go; past this many, the text of series is written anew.
_MOST_KNOWN_SERIES = 10_000
_MOST_KNOWN_SETS = 1_000
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def escape_label_value(value: str) -> str:
    """Escape a label value for text format 0.0.4 (backslash, double quote, line feed)."""
    return value.translate(_ESCAPES)


def escape_help(text: str) -> str:
    """Escape a HELP text for text format 0.0.4 (backslash, line feed)."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")


class Family:
    """The samples of one declared metric, page after page.

    A value of None leaves no sample: absence stays absence. The same labels twice on one page is a fault of the caller
    and raises ValueError, since Prometheus would refuse the page.
    """

    __slots__ = ("_head", "_known", "_known_sets", "_lines", "metric")

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        name = metric.name
        self._head = f"# HELP {name} {escape_help(metric.help)}\n# TYPE {name} {metric.kind}\n"
        self._known: dict[tuple[str, ...], str] = {}
        self._known_sets: dict[tuple[object, ...], tuple[str, ...]] = {}
        self._lines: dict[str, float] = {}

    def add(self, value: float | None, *label_values: str) -> None:
        """Add one sample; `label_values` stand in the order of the metric's labels."""
        if value is None:
            return
        series = self._known.get(label_values) or self._remember(label_values)
        if series in self._lines:
            raise ValueError(f"{series}: added twice")
        self._lines[series] = +value  # the number of a truth value, too

    def add_each(self, values: Mapping[Any, float], *label_values: str) -> None:
        """Add a sample for each key, which is the value of the last label, or a tuple with those of the last ones."""
        if not values:
            return
        series = self._series_of(label_values, tuple(values))
        lines = self._lines
        before = len(lines)
        lines.update(zip(series, map(pos, values.values()), strict=True))
        if len(lines) != before + len(series):
            raise ValueError(f"{self.metric}: a series was added twice")

    def place(self, label_values: tuple[str, ...]) -> tuple[dict[str, float], str]:
        """Return where the sample of these labels goes: among which lines, and under which series."""
        return self._lines, self._known.get(label_values) or self._remember(label_values)

    def __bool__(self) -> bool:
        return bool(self._lines)

    def take_text(self) -> str:
        """Return HELP, TYPE and all samples, each line ended, and begin a new page; nothing where no sample is."""
        if not self._lines:
            return ""
        lines = [f"{series}{value!r}\n" for series, value in self._lines.items()]
        self._lines.clear()
        return self._head + "".join(lines)

    def forget(self) -> None:
        """Forget the samples of a page that was not finished."""
        self._lines.clear()

    def _series_of(self, label_values: tuple[str, ...], keys: tuple[Any, ...]) -> tuple[str, ...]:
        """Return the series of a set of keys; a set repeats from page to page as a whole."""
        known = self._known_sets.get((label_values, keys))
        if known is None:
            if len(self._known_sets) >= _MOST_KNOWN_SETS:
                self._known_sets.clear()
            known = tuple([self.place((*label_values, *_as_labels(key)))[1] for key in keys])
            self._known_sets[label_values, keys] = known
        return known

    def _remember(self, label_values: tuple[str, ...]) -> str:
        labels = self.metric.labels
        if len(label_values) != len(labels):
            raise ValueError(f"{self.metric}: {len(labels)} label values are asked for, {len(label_values)} given")
        if len(self._known) >= _MOST_KNOWN_SERIES:
            self._known.clear()
        text = ",".join(
            f'{label.name}="{escape_label_value(given)}"' for label, given in zip(labels, label_values, strict=True)
        )
        series = self._known[label_values] = f"{self.metric.name}{{{text}}} "
        return series


def _as_labels(key: object) -> tuple[str, ...]:
    return tuple(map(str, key)) if isinstance(key, tuple) else (str(key),)


class Row:
    """Metrics with the same labels, whose values are attributes of one object."""

    def __init__(self, columns: Mapping[Metric, str]) -> None:
        self.metrics = tuple(columns)
        self.values: Callable[[object], tuple[float | None, ...]] = attrgetter(*columns.values())


class Families:
    """All families of our own, in the order of the catalogue; kept from page to page, since their series repeat."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._families = {metric: Family(metric) for metric in metrics}
        self._places: dict[tuple[Row, tuple[str, ...]], list[tuple[dict[str, float], str]]] = {}

    def __getitem__(self, metric: Metric) -> Family:
        return self._families[metric]

    def add_row(self, row: Row, source: object, *label_values: str) -> None:
        """Add a sample of each metric of a row, where `source` has a value for it."""
        places = self._places.get((row, label_values))
        if places is None:
            if len(self._places) >= _MOST_KNOWN_SETS:
                self._places.clear()
            places = [self._families[metric].place(label_values) for metric in row.metrics]
            self._places[row, label_values] = places
        for (lines, series), value in zip(places, row.values(source), strict=True):
            if value is not None:
                if series in lines:
                    raise ValueError(f"{series}: added twice")
                lines[series] = +value

    def begin_page(self) -> None:
        """Forget the samples of a page that was not finished."""
        for family in self._families.values():
            family.forget()

    def take_text(self) -> str:
        """Return the text of every family that has samples, and begin a new page."""
        return "".join([family.take_text() for family in self._families.values() if family])
