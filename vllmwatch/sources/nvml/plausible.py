"""From NVML's units to base units, with None for what cannot be true."""

from typing import Final

MIN_CELSIUS: Final = -50
MAX_CELSIUS: Final = 150
# Fans are allowed above their nominal speed (nvml.h, nvmlDeviceGetFanSpeed), not by so much.
MAX_FAN_PERCENT: Final = 200
# No card, and no module of several, draws as much; all ones in milliwatts are 4.3 MW.
_MAX_WATTS: Final = 100_000
# No clock of a card ticks as fast; all ones in megahertz are 4,295,000 GHz.
_MAX_MEGAHERTZ: Final = 100_000
# No card holds as much memory, in bytes: 1 PiB.
_MAX_BYTES: Final = 2**50
# No count of events gets there, nor the energy of a card in millijoules, nor time in nanoseconds: 146 years.
_MAX_COUNT: Final = 2**62
# A draw above twice the highest limit is a misreading.
MAX_POWER_PER_LIMIT: Final = 2
MAX_PERFORMANCE_STATE: Final = 15
# Some cards without the sensor read 0: a cold sensor beside a warm core is none.
_WARM_CORE_CELSIUS: Final = 10
# Some cards read a margin of 0 always: no card is at its limit below this.
_COOL_CORE_CELSIUS: Final = 60


def celsius(value: float | None) -> float | None:
    """Return a temperature that a card can have."""
    return value if value is not None and MIN_CELSIUS <= value <= MAX_CELSIUS else None


def memory_celsius(value: float | None, core: float | None) -> float | None:
    """Return the temperature of the memory; 0 beside a warm core is no reading."""
    if value == 0 and core is not None and core >= _WARM_CORE_CELSIUS:
        return None
    return celsius(value)


def margin_celsius(value: float | None, core: float | None) -> float | None:
    """Return the distance to the limit; 0 beside a cool core is no reading."""
    if value == 0 and core is not None and core < _COOL_CORE_CELSIUS:
        return None
    return celsius(value)


def ratio(percent: float | None, most: int = 100) -> float | None:
    """Return a percentage as a ratio."""
    return percent / 100 if percent is not None and 0 <= percent <= most else None


def watts(milliwatts: float | None, limit: float | None = None) -> float | None:
    """Return a power; `limit` is the highest limit of the card in watts, where it is known."""
    if milliwatts is None:
        return None
    value = milliwatts / 1000
    most = _MAX_WATTS if limit is None else min(_MAX_WATTS, MAX_POWER_PER_LIMIT * limit)
    return value if 0 <= value <= most else None


def hertz(megahertz: int | None) -> int | None:
    """Return a clock."""
    return megahertz * 1_000_000 if megahertz is not None and 0 <= megahertz <= _MAX_MEGAHERTZ else None


def whole(value: float | None, most: int = _MAX_COUNT) -> int | None:
    """Return a count that may have come as a float."""
    return int(value) if value is not None and 0 <= value <= most else None


def size_bytes(value: int) -> int | None:
    """Return an amount of memory."""
    return value if value <= _MAX_BYTES else None


def yes(value: float | None) -> bool | None:
    """Return a switch; anything but 0 and 1 is no answer."""
    return bool(value) if value in {0, 1} else None
