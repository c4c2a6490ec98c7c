"""The latency objectives, each at a bucket edge that vLLM has, so that shares above it are counted and not guessed."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from vllmwatch.catalog import thresholds
from vllmwatch.catalog.latencies import FIRST_TOKEN, INTER_TOKEN, QUEUE, REQUEST, Latency
from vllmwatch.spec.threshold import Threshold, Thresholds

WINDOWS: tuple[str, ...] = ("5m", "10m", "30m", "1h", "6h")
"""What shares are counted over where an error budget is made of them."""


@dataclass(frozen=True, slots=True)
class Objective:
    """A latency that is not to be passed, by all models or by `models` that have a value of their own.

    `windows` are those that it is counted over, `others` edges that servers have beside vLLM's own. Raises ValueError,
    with the edges beside it, for a value that is no bucket edge.
    """

    latency: Latency
    threshold_seconds: float
    models: Mapping[str, float] = field(default_factory=dict)
    windows: tuple[str, ...] = WINDOWS
    others: Collection[float] = ()

    def __post_init__(self) -> None:
        for seconds in (self.threshold_seconds, *self.models.values()):
            self._require_edge(seconds)

    @property
    def edge(self) -> str:
        """The value of the label `le`, as pages have it, of the models without one of their own."""
        return _edge(self.threshold_seconds)

    def edge_of(self, model_name: str) -> str:
        """Return the value of the label `le` that a model is counted at."""
        return _edge(self.models.get(model_name, self.threshold_seconds))

    @property
    def edges_of_models(self) -> dict[str, tuple[str, ...]]:
        """The models with an edge of their own, by edge."""
        found: dict[str, tuple[str, ...]] = {}
        for model, seconds in sorted(self.models.items()):
            found[_edge(seconds)] = (*found.get(_edge(seconds), ()), model)
        return found

    def _require_edge(self, seconds: float) -> None:
        edges = sorted({*self.latency.edges, *self.others})
        if seconds in edges:
            return
        below = [edge for edge in edges if edge < seconds]
        above = [edge for edge in edges if edge > seconds]
        near = " and ".join(f"{edge:g} s" for edge in (*below[-1:], *above[:1]))
        raise ValueError(
            f"{self.latency.word}: {seconds:g} s is no bucket edge of {self.latency.metric}; the nearest are {near}"
        )


_COUNTED: tuple[tuple[Latency, Threshold, tuple[str, ...]], ...] = (
    (REQUEST, thresholds.REQUEST_LATENCY, WINDOWS),
    (FIRST_TOKEN, thresholds.FIRST_TOKEN, WINDOWS),
    (INTER_TOKEN, thresholds.INTER_TOKEN, WINDOWS),
    (QUEUE, thresholds.QUEUE_TIME, ("10m",)),
)


def objectives(values: Thresholds) -> tuple[Objective, ...]:
    """Return the objective of each latency that has a threshold, at the values in force."""
    return tuple(_objectives(values))


def _objectives(values: Thresholds) -> Iterator[Objective]:
    for latency, threshold, windows in _COUNTED:
        others = values.edges.get(latency.edges_setting, ())
        yield Objective(latency, values.everywhere[threshold.key], values.own_of(threshold.key), windows, others)


def _edge(seconds: float) -> str:
    return repr(float(seconds))


OBJECTIVES: tuple[Objective, ...] = objectives(thresholds.DEFAULTS)
