"""How long a GPU was held back, by reason."""

import ctypes
from collections.abc import Mapping
from typing import Final

from vllmwatch.sources.nvml import plausible
from vllmwatch.sources.nvml.library import Device
from vllmwatch.sources.nvml.tables import VIOLATION_POLICIES

_PREFIX: Final = "throttle."
_NANOSECONDS: Final = 1e9


class Violations:
    """The counters of time by reason: from field values, else from the call that they replace."""

    def __init__(self, device: Device) -> None:
        # nvmlViolationTime_t: the time of the reading, and the time held back, in nanoseconds.
        self._out = (ctypes.c_ulonglong * 2)()
        self._calls = {
            reason: device.reading("nvmlDeviceGetViolationStatus", ctypes.c_uint(policy), self._out)
            for reason, policy in VIOLATION_POLICIES.items()
        }

    def read(self, fields: Mapping[str, float]) -> dict[str, float]:
        """Return the seconds by reason; `fields` holds the counters that came as field values."""
        counters = {key.removeprefix(_PREFIX): value for key, value in fields.items() if key.startswith(_PREFIX)}
        for reason, call in self._calls.items():
            if reason not in counters and call.read():
                counters[reason] = self._out[1]
        known = {reason: plausible.whole(value) for reason, value in counters.items()}
        return {reason: value / _NANOSECONDS for reason, value in known.items() if value is not None}
