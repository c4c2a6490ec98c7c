"""A threshold: the value past which an alert speaks, a setting for all models and, where it makes sense, for each."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from vllmwatch.spec.unit import RATIO, Unit


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold: `key` is the setting, `help` one sentence that says what is too much.

    `per_model` says that a model may have a value of its own. `edges`, where there are any, are the only values
    allowed: the bucket edges of the histogram that it is counted by. Servers may have others, which the setting
    `edges_setting` names.
    """

    key: str
    default: float
    unit: Unit
    help: str
    per_model: bool = False
    edges: tuple[float, ...] = ()
    edges_setting: str = ""

    def __post_init__(self) -> None:
        if not self.key.endswith(self.unit.suffix):
            raise ValueError(f"threshold {self.key!r}: a name in {self.unit.word} ends in {self.unit.suffix!r}")
        try:
            self.require(self.default)
            self.require_edge(self.default)
        except ValueError as error:
            raise ValueError(f"threshold {self.key!r}: {error}") from None

    def require(self, value: float) -> None:
        """Raise ValueError, with what would do, for a value that cannot be meant."""
        if self.unit is RATIO and not 0 < value < 1:
            percent = 1 < value < 100  # noqa: PLR2004  what a ratio is times
            meant = f"; did you mean {value / 100:g}?" if percent else ""
            raise ValueError(f"a ratio between 0 and 1 is asked for, not {value:g}{meant}")
        if value <= 0:
            raise ValueError(f"more than 0 is asked for, not {value:g}")

    def require_edge(self, value: float, others: Collection[float] = ()) -> None:
        """Raise ValueError, with the nearest edges, for a value at none of them or of `others`."""
        edges = sorted({*self.edges, *others})
        if not self.edges or value in edges:
            return
        near = " and ".join(
            f"{edge:g}" for edge in (*[e for e in edges if e < value][-1:], *[e for e in edges if e > value][:1])
        )
        raise ValueError(f"{value:g} is no bucket edge, and is never guessed at; the nearest are {near}")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The values in force by key, and for models that differ by model and key.

    `edges` are bucket edges that servers have beside vLLM's own, by the setting that names them.
    """

    everywhere: Mapping[str, float]
    models: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    edges: Mapping[str, Collection[float]] = field(default_factory=dict)

    def apart(self, keys: Collection[str]) -> list[str]:
        """Return the models that have a value of their own for any of the keys, in the order of their names."""
        return sorted(model for model, values in self.models.items() if any(key in values for key in keys))

    def own_of(self, key: str) -> dict[str, float]:
        """Return the models that have a value of their own for a key, in the order of their names."""
        return {model: values[key] for model, values in sorted(self.models.items()) if key in values}
