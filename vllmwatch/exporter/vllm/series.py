"""The text of a series on our page: its own labels, made uniform, and those that say whose it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vllmwatch.exporter.family import escape_label_value
from vllmwatch.exporter.vllm.resolve import Resolved
from vllmwatch.sources.vllm.text import Sample, format_bound

_EXPORTED = "exported_"
_ENGINE = "engine"
_ONLY_ENGINE = "0"


@dataclass(frozen=True, slots=True)
class Identity:
    """The labels that every series of a target gains; `extra` come from file_sd."""

    server: str
    node: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def labels(self) -> dict[str, str]:
        """Return the labels in the order in which they are written."""
        return {**self.extra, "server": self.server, "node": self.node}


class SeriesWriter:
    """Writes the series of one page.

    A label of the page's own that is called as one of ours is kept as `exported_…`, as Prometheus does. `le` and
    `quantile` are written as floats. `engine` is the engine that families of an engine without the label get, or
    None where the page leaves open whose they are. `left_out` labels are dropped.
    """

    def __init__(self, identity: Identity, engine: str | None, left_out: frozenset[str]) -> None:
        self._ours = identity.labels()
        self._tail = ",".join(f'{name}="{escape_label_value(value)}"' for name, value in self._ours.items())
        self._engine = engine
        self._left_out = left_out

    def series(self, name: str, sample: Sample, family: Resolved) -> str:
        """Return `name{labels}` as it stands on our page."""
        parts = []
        has_engine = False
        for label, value in sample.labels:
            if label in self._left_out:
                continue
            has_engine = has_engine or label == _ENGINE
            shown = format_bound(value) if self._is_bound(label, family) else value
            shown_label = self._own_name(label, sample)
            parts.append(f'{shown_label}="{escape_label_value(shown)}"')
        if family.engine_scope and not has_engine and self._engine is not None and _ENGINE not in self._ours:
            parts.append(f'{_ENGINE}="{escape_label_value(self._engine)}"')
        parts.append(self._tail)
        return f"{name}{{{','.join(parts)}}}"

    def _own_name(self, label: str, sample: Sample) -> str:
        present = {name for name, _ in sample.labels}
        while label in self._ours:
            label = _EXPORTED + label
            while label in present:
                label = _EXPORTED + label
        return label

    @staticmethod
    def _is_bound(label: str, family: Resolved) -> bool:
        return (label == "le" and family.kind == "histogram") or (label == "quantile" and family.kind == "summary")


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
        for _, _, sample in family.samples
        for label, value in sample.labels
        if label == wanted and value
    )
