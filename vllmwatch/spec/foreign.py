"""A metric of another exporter that says what one of ours says: its names, and how its values become ours."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vllmwatch.spec.metric import Metric


@dataclass(frozen=True, slots=True)
class ForeignMetric:
    """How `metric` of ours is had from another exporter.

    `names` are its names there, the one to be preferred first. `conversion` is what stands behind the series to bring
    it into our unit (`/ 100`). `labels` are those of our own labels that its series do not tell, with their values;
    `renamed` gives the name there of those that they do. `bit` picks one bit of a mask, `equals` one value of an
    enumeration: then our value is 1 where it is set, and for a bit 0 where it is not.
    """

    metric: Metric
    names: tuple[str, ...]
    conversion: str = ""
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    renamed: Mapping[str, str] = field(default_factory=dict, hash=False)
    bit: int | None = None
    equals: int | None = None

    def __post_init__(self) -> None:
        told = {*self.labels, *self.renamed}
        if told != {label.name for label in self.metric.labels} - {"node", "uuid", "gpu"}:
            raise ValueError(f"{self.metric}: all of its labels are told, and no others")
        if not self.names:
            raise ValueError(f"{self.metric}: it has no name there")
