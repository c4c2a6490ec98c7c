"""What the join finds."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from vllmwatch.spec.join import Holder, Unmapped


@dataclass(frozen=True, slots=True, order=True)
class Device:
    """A GPU, or a MIG instance of one: then `parent_uuid` is the GPU's, and `index` is the GPU's in NVML's order."""

    uuid: str
    index: int
    parent_uuid: str = ""

    @property
    def gpu_uuid(self) -> str:
        """The UUID of the GPU, whole or cut up."""
        return self.parent_uuid or self.uuid


@dataclass(frozen=True, slots=True, order=True)
class Link:
    """A device that carries a worker of an engine. `engine` and `rank` are empty where they are not known."""

    server: str
    engine: str
    rank: str
    device: Device


@dataclass(frozen=True, slots=True)
class Joined:
    """The whole join.

    `held` has bytes by the UUID of the GPU, the holder, and the server where that is the holder. `unmapped` has the
    reasons by the UUID of the GPU. `notes` are for people: what contradicts what.
    """

    links: tuple[Link, ...] = ()
    held: Mapping[tuple[str, Holder, str], int] = field(default_factory=dict)
    unmapped: Mapping[str, frozenset[Unmapped]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
