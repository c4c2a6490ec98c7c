"""Samples of our own metrics, gathered for a page and written in text format 0.0.4."""

from collections.abc import Iterable

from vllmwatch.spec.metric import Metric

# Labels of servers come and go; past this many, the text of series is written anew.
_MOST_KNOWN_SERIES = 10_000
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

    __slots__ = ("_head", "_known", "_lines", "metric")

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        name = metric.name
        self._head = f"# HELP {name} {escape_help(metric.help)}\n# TYPE {name} {metric.kind}\n"
        self._known: dict[tuple[str, ...], str] = {}
        self._lines: dict[str, str] = {}

    def add(self, value: float | None, *label_values: str) -> None:
        """Add one sample; `label_values` stand in the order of the metric's labels."""
        if value is None:
            return
        series = self._known.get(label_values)
        if series is None:
            series = self._remember(label_values)
        if series in self._lines:
            raise ValueError(f"{series}: added twice")
        self._lines[series] = repr(value) if type(value) is float else str(int(value))

    def __bool__(self) -> bool:
        return bool(self._lines)

    def take_text(self) -> str:
        """Return HELP, TYPE and all samples, each line ended, and begin a new page; nothing where no sample is."""
        if not self._lines:
            return ""
        lines = [f"{series}{value}\n" for series, value in self._lines.items()]
        self._lines.clear()
        return self._head + "".join(lines)

    def forget(self) -> None:
        """Forget the samples of a page that was not finished."""
        self._lines.clear()

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


class Families:
    """All families of our own, in the order of the catalogue; kept from page to page, since their series repeat."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._families = {metric: Family(metric) for metric in metrics}

    def __getitem__(self, metric: Metric) -> Family:
        return self._families[metric]

    def begin_page(self) -> None:
        """Forget the samples of a page that was not finished."""
        for family in self._families.values():
            family.forget()

    def take_text(self) -> str:
        """Return the text of every family that has samples, and begin a new page."""
        return "".join([family.take_text() for family in self._families.values() if family])
