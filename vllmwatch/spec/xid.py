"""XID events of NVIDIA's driver: what each number means and what mends it; refused when it is nonsense."""

from dataclasses import dataclass
from enum import StrEnum


class Remedy(StrEnum):
    """What mends a GPU that raised an event."""

    RESET = "reset the GPU"
    REBOOT = "reboot the host"
    REPAIR = "repair the hardware"
    RESTART = "restart the program"
    ASK_DRIVER = "what the driver asks for as its recovery action"
    NOTHING = "nothing"


CRITICAL: frozenset[Remedy] = frozenset({Remedy.RESET, Remedy.REBOOT, Remedy.REPAIR})
"""The remedies of a GPU that serves nobody until somebody comes."""


@dataclass(frozen=True, slots=True)
class XidClass:
    """Events that mean about the same and are mended alike; `meaning` is a clause that completes "the GPU …"."""

    meaning: str
    remedy: Remedy
    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.numbers or list(self.numbers) != sorted(set(self.numbers)):
            raise ValueError(f"XID class {self.meaning!r}: numbers are asked for, in order, each once")
        if not self.meaning or self.meaning.endswith("."):
            raise ValueError(f"XID class {self.meaning!r}: a clause without a full stop is asked for")
