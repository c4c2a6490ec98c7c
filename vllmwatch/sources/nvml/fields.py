"""Field values of a GPU, read in one call: NVML's way to batch readings."""

import ctypes
import logging
import math
import struct
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from vllmwatch.sources.nvml.library import (
    ALL_ONES_32,
    ALL_ONES_64,
    LOSSES,
    REFUSALS,
    Device,
    GpuLostError,
    Reading,
    pynvml,
)

_log = logging.getLogger(__name__)

KeyT = TypeVar("KeyT", bound=Hashable)

# nvmlFieldValue_t as five words of 64 bits: id and scope, time, latency, type and code, value.
_WORDS = 5
_TYPE_AND_CODE = 3
_VALUE = 4
# From the largest signed number up: no count, but a sentinel of one kind or the other, or less than nothing.
_NO_COUNT = 2**63 - 1
_UNSIGNED = {
    pynvml.NVML_VALUE_TYPE_UNSIGNED_INT: ALL_ONES_32,
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG: ALL_ONES_64,
    pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: ALL_ONES_64,
    pynvml.NVML_VALUE_TYPE_UNSIGNED_SHORT: 0xFFFF,
}
_SIGNED = {
    pynvml.NVML_VALUE_TYPE_SIGNED_INT: ALL_ONES_32,
    pynvml.NVML_VALUE_TYPE_SIGNED_LONG_LONG: ALL_ONES_64,
}


@dataclass(frozen=True, slots=True)
class Field(Generic[KeyT]):
    """A field to ask for; its value is counted in `unit`.

    Of several fields with one key, the first that the GPU supports is kept.
    """

    key: KeyT
    number: int
    scope: int = 0
    unit: int = 1


class FieldGroups:
    """Groups of fields of one GPU, read in one call; what the GPU refuses is not asked for again."""

    def __init__(self, device: Device, groups: Sequence[Sequence[Field[Any]]]) -> None:
        self._device = device
        self._groups = len(groups)
        self._prepare(tuple((group, field) for group, fields in enumerate(groups) for field in fields))
        self._settled = False

    def _prepare(self, fields: tuple[tuple[int, Field[Any]], ...]) -> None:
        self._fields = fields
        values = (pynvml.c_nvmlFieldValue_t * len(fields))()
        for value, (_, field) in zip(values, fields, strict=True):
            value.fieldId = field.number
            value.scopeId = field.scope
            value.nvmlReturn = pynvml.NVML_ERROR_UNKNOWN  # for a driver that leaves a field alone
        name = "nvmlDeviceGetFieldValues"
        self._reading: Reading = self._device.reading(name, ctypes.c_int(len(fields)), values)
        words = memoryview(values).cast("B").cast("Q") if fields else memoryview(b"")
        self._states = words[_TYPE_AND_CODE::_WORDS]
        self._values = words[_VALUE::_WORDS]
        self._planned = b""

    def asks(self, group: int, key: Hashable) -> bool:
        """Whether a field of that key is still asked for."""
        return any(group == its_group and key == field.key for its_group, field in self._fields)

    def read(self) -> list[dict[Any, Any]]:
        """Return what could be read of each group, by key, as numbers; raise when the GPU is lost."""
        found: list[dict[Any, Any]] = [{} for _ in range(self._groups)]
        if not self._fields or not self._reading.read():
            return found
        states = self._states.tobytes()
        if states != self._planned:  # types and codes rarely change from look to look
            self._plan(self._states.tolist())
            self._planned = states
        values = self._values.tolist()
        for part in self._parts:
            found[part.group].update(part.read(values))
        if not self._settled or self._any_failed:
            self._settle()
        return found

    def _plan(self, states: list[int]) -> None:
        """Sort the fields that answered by how their values are read."""
        self._codes = [state >> 32 for state in states]
        self._any_failed = any(self._codes)
        places: dict[tuple[int, int, int], dict[Hashable, int]] = {}
        taken: set[tuple[int, Hashable]] = set()
        for position, ((group, field), state) in enumerate(zip(self._fields, states, strict=True)):
            if self._codes[position] == 0 and (group, field.key) not in taken:
                taken.add((group, field.key))
                places.setdefault((group, state & ALL_ONES_32, field.unit), {})[field.key] = position
        self._parts = [
            _Part(group, value_type, unit, tuple(of_key), tuple(of_key.values()))
            for (group, value_type, unit), of_key in places.items()
        ]

    def _settle(self) -> None:
        """Drop the fields that were refused, and those that stand behind one of the same key that answered."""
        if any(code in LOSSES for code in self._codes):
            raise GpuLostError(self._device.label)
        kept: list[tuple[int, Field[Any]]] = []
        answered: set[tuple[int, Hashable]] = set()
        for (group, field), code in zip(self._fields, self._codes, strict=True):
            if code in REFUSALS:
                _log.debug("field %d of %s: NVML error %d, not asked again", field.number, self._device.label, code)
            elif (group, field.key) not in answered:
                kept.append((group, field))
                if code == 0:
                    answered.add((group, field.key))
        if len(kept) < len(self._fields):
            self._prepare(tuple(kept))
        self._settled = True


class FieldBatch(Generic[KeyT]):
    """One group of fields of one GPU."""

    def __init__(self, device: Device, fields: Sequence[Field[KeyT]]) -> None:
        self._groups = FieldGroups(device, (fields,))

    def read(self) -> dict[KeyT, float]:
        """Return what could be read, by key; raise when the GPU is lost."""
        return self._groups.read()[0]


@dataclass(frozen=True, slots=True)
class _Part:
    """Fields of one group whose values have one type and one unit, and where their values stand."""

    group: int
    value_type: int
    unit: int
    keys: tuple[Hashable, ...]
    positions: tuple[int, ...]

    def read(self, values: Sequence[int]) -> Iterable[tuple[Hashable, float]]:
        """Return keys and numbers of those that have one; bits beyond a type are undefined."""
        words = [values[position] for position in self.positions]
        mask = _UNSIGNED.get(self.value_type)
        if mask is None:
            numbers = [_signed_or_real(self.value_type, word) for word in words]
            return self._with_keys(numbers)
        counts = words if mask == ALL_ONES_64 else [word & mask for word in words]
        if max(counts) >= (sentinel := min(mask, _NO_COUNT)):
            return self._with_keys([count if count < sentinel else None for count in counts])
        return zip(self.keys, counts if self.unit == 1 else [count * self.unit for count in counts], strict=True)

    def _with_keys(self, numbers: Sequence[float | None]) -> Iterable[tuple[Hashable, float]]:
        return [(key, number * self.unit) for key, number in zip(self.keys, numbers, strict=True) if number is not None]


def _signed_or_real(value_type: int, word: int) -> float | None:
    mask = _SIGNED.get(value_type)
    if mask is not None:
        word &= mask
        return word - mask - 1 if word > mask >> 1 else word
    if value_type == pynvml.NVML_VALUE_TYPE_DOUBLE:
        number: float = struct.unpack("<d", struct.pack("<Q", word))[0]
        return number if math.isfinite(number) else None
    return None
