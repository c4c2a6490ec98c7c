"""What the exporter itself uses, read from /proc."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class OwnUsage:
    """Processor time since the start, and resident memory (None where /proc does not say)."""

    cpu_seconds: float
    resident_bytes: int | None


def own_usage(statm: Path = Path("/proc/self/statm")) -> OwnUsage:
    """Read the present usage of this process."""
    try:
        resident = int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        resident = None
    return OwnUsage(time.process_time(), resident)
