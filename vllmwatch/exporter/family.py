"""Samples of our own metrics, gathered for one page and written in text format 0.0.4."""

from collections.abc import Iterable

from vllmwatch.spec.metric import Metric

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def escape_label_value(value: str) -> str:
    """Escape a label value for text format 0.0.4 (backslash, double quote, line feed)."""
    return value.translate(_ESCAPES)


def escape_help(text: str) -> str:
    """Escape a HELP text for text format 0.0.4 (backslash, line feed)."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def format_value(value: float) -> str:
    """Write a sample value so that it reads back as the same float; whole numbers carry no exponent."""
    if isinstance(value, int):
        return str(int(value))
    return repr(value)


class Family:
    """The samples of one declared metric on one page.

    A value of None leaves no sample: absence stays absence. The same labels twice is a fault of the caller
    and raises ValueError, since Prometheus would refuse the page.
    """

    __slots__ = ("_lines", "metric")

    def __init__(self, metric: Metric) -> None:
        self.metric = metric
        self._lines: dict[str, str] = {}

    def add(self, value: float | None, *label_values: str) -> None:
        """Add one sample; `label_values` stand in the order of the metric's labels."""
        if value is None:
            return
        labels = self.metric.labels
        if len(label_values) != len(labels):
            raise ValueError(f"{self.metric}: {len(labels)} label values are asked for, {len(label_values)} given")
        text = ",".join(
            f'{label.name}="{escape_label_value(given)}"' for label, given in zip(labels, label_values, strict=True)
        )
        if text in self._lines:
            raise ValueError(f"{self.metric}{{{text}}}: added twice")
        self._lines[text] = f"{self.metric.name}{{{text}}} {format_value(value)}"

    def __bool__(self) -> bool:
        return bool(self._lines)

    def text(self) -> str:
        """Return HELP, TYPE and all samples, each line ended; an empty family is the empty string."""
        if not self._lines:
            return ""
        name = self.metric.name
        head = f"# HELP {name} {escape_help(self.metric.help)}\n# TYPE {name} {self.metric.kind}\n"
        return head + "\n".join(self._lines.values()) + "\n"


class Families:
    """All families of our own on one page, in the order of the catalogue."""

    def __init__(self, metrics: Iterable[Metric]) -> None:
        self._families = {metric: Family(metric) for metric in metrics}

    def __getitem__(self, metric: Metric) -> Family:
        return self._families[metric]

    def text(self) -> str:
        """Return the text of every family that has samples."""
        return "".join(family.text() for family in self._families.values())
