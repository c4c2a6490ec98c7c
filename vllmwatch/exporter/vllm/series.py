"""The text of a series on our page: its own labels, made uniform, and those that say whose it is."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from vllmwatch.exporter.family import escape_label_value
from vllmwatch.exporter.vllm.resolve import Resolved
from vllmwatch.sources.vllm.text import Sample, format_bound

_EXPORTED = "exported_"
_ENGINE = "engine"
_ONLY_ENGINE = "0"
_BOUNDS = {"histogram": frozenset({"le"}), "summary": frozenset({"quantile"})}

Key = tuple[str | tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Identity:
    """The labels that every series of a target gains; `extra` come from file_sd."""

    server: str
    node: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def labels(self) -> dict[str, str]:
        """Return the labels in the order in which they are written."""
        return {**self.extra, "server": self.server, "node": self.node}


@dataclass(frozen=True, slots=True)
class Series:
    """A series as it stands on our page.

    `key` is what makes it one: name and labels, whatever their order, those that are empty left out. `group` is the
    same without the edge of a bucket or a quantile.
    """

    text: str
    key: Key
    group: Key


class SeriesWriter:
    """Writes the series of one page.

    A label of the page's own that is called as one of ours is kept as `exported_…`, as Prometheus does. `le` and
    `quantile` are written as floats. `engine` is the engine that families of an engine without the label get, or
    None where the page leaves open whose they are. `left_out` labels are dropped.
    """

    def __init__(self, identity: Identity, engine: str | None, left_out: frozenset[str]) -> None:
        self._ours = identity.labels()
        self._engine = engine
        self._left_out = left_out

    def series(self, name: str, sample: Sample, family: Resolved) -> Series:
        """Return a sample's series as it stands on our page."""
        labels: dict[str, str] = {}
        bounds = _BOUNDS.get(family.kind, frozenset())
        present = {label for label, _ in sample.labels}
        for label, value in sample.labels:
            if label not in self._left_out:
                shown = format_bound(value) if label in bounds else value
                labels[self._own_name(label, present | labels.keys())] = shown
        if family.engine_scope and self._engine is not None:
            labels.setdefault(_ENGINE, self._engine)
        labels |= self._ours
        text = ",".join(f'{label}="{escape_label_value(value)}"' for label, value in labels.items())
        pairs = sorted((label, value) for label, value in labels.items() if value)
        group = tuple(pair for pair in pairs if pair[0] not in bounds)
        return Series(f"{name}{{{text}}}", (name, *pairs), (name, *group))

    def _own_name(self, label: str, taken: AbstractSet[str]) -> str:
        if label not in self._ours:
            return label
        while label in self._ours or label in taken:
            label = _EXPORTED + label
        return label


def engines_of(families: Iterable[Resolved]) -> list[str]:
    """Return the engines that a page's families of an engine name, in order of appearance."""
    return list(dict.fromkeys(_labels(families, _ENGINE)))


def model_names_of(families: Iterable[Resolved]) -> list[str]:
    """Return the model names that a page's families of an engine name, in order of appearance."""
    return list(dict.fromkeys(_labels(families, "model_name")))


def engine_when_missing(engines: list[str]) -> str | None:
    """Return the engine of series that name none: the page's only one, "0" where it names none at all.

    With several engines the page does not say whose such a series is, and it is not guessed.
    """
    if not engines:
        return _ONLY_ENGINE
    return engines[0] if len(engines) == 1 else None


def _labels(families: Iterable[Resolved], wanted: str) -> Iterable[str]:
    return (
        value
        for family in families
        if family.engine_scope
        for _, _, sample in (*family.samples, *family.older)
        for label, value in sample.labels
        if label == wanted and value
    )
