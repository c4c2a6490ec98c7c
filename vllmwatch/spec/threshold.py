"""A threshold: the value past which an alert speaks, a setting for all models and, where it makes sense, for each."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from vllmwatch.spec.unit import RATIO, Unit


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold: `key` is the setting, `help` one sentence that says what is too much.

    `per_model` says that a model may have a value of its own. `edges`, where there are any, are the only values
    allowed: the bucket edges of the histogram that it is counted by.
    """

    key: str
    default: float
    unit: Unit
    help: str
    per_model: bool = False
    edges: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.key.endswith(self.unit.suffix):
            raise ValueError(f"threshold {self.key!r}: a name in {self.unit.word} ends in {self.unit.suffix!r}")
        try:
            self.require(self.default)
        except ValueError as error:
            raise ValueError(f"threshold {self.key!r}: {error}") from None

    def require(self, value: float) -> None:
        """Raise ValueError, with what would do, for a value that cannot be meant."""
        if self.unit is RATIO and not 0 < value < 1:
            raise ValueError(f"a ratio between 0 and 1 is asked for, not {value:g}")
        if value <= 0:
            raise ValueError(f"more than 0 is asked for, not {value:g}")
        if self.edges and value not in self.edges:
            below = [edge for edge in self.edges if edge < value][-1:]
            above = [edge for edge in self.edges if edge > value][:1]
            near = " and ".join(f"{edge:g}" for edge in (*below, *above))
            raise ValueError(f"{value:g} is no bucket edge, and is never guessed at; the nearest are {near}")


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The values in force by key, and for models that differ by model and key."""

    everywhere: Mapping[str, float]
    models: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    def apart(self, keys: Collection[str]) -> list[str]:
        """Return the models that have a value of their own for any of the keys, in the order of their names."""
        return sorted(model for model, values in self.models.items() if any(key in values for key in keys))

    def own_of(self, key: str) -> dict[str, float]:
        """Return the models that have a value of their own for a key, in the order of their names."""
        return {model: values[key] for model, values in sorted(self.models.items()) if key in values}
