"""Field values of a GPU, read in one call: NVML's way to batch readings."""

import ctypes
import logging
import math
import struct
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

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
    """A field to ask for. Of several fields with one key, the first that the GPU supports is kept."""

    key: KeyT
    number: int
    scope: int = 0


class FieldBatch(Generic[KeyT]):
    """A set of fields of one GPU; what the GPU refuses is not asked for again."""

    def __init__(self, device: Device, fields: Sequence[Field[KeyT]]) -> None:
        self._device = device
        self._prepare(tuple(fields))
        self._settled = False

    def _prepare(self, fields: tuple[Field[KeyT], ...]) -> None:
        self._fields = fields
        self._keys = [field.key for field in fields]
        values = (pynvml.c_nvmlFieldValue_t * len(fields))()
        for value, field in zip(values, fields, strict=True):
            value.fieldId = field.number
            value.scopeId = field.scope
            value.nvmlReturn = pynvml.NVML_ERROR_UNKNOWN  # for a driver that leaves a field alone
        name = "nvmlDeviceGetFieldValues"
        self._reading: Reading = self._device.reading(name, ctypes.c_int(len(fields)), values)
        self._words = memoryview(values).cast("B").cast("Q") if fields else memoryview(b"")
        self._states: list[int] = []

    @property
    def keys(self) -> list[KeyT]:
        """The keys that are still asked for."""
        return self._keys

    def read(self) -> dict[KeyT, float]:
        """Return what could be read, by key; raise when the GPU is lost."""
        if not self._fields or not self._reading.read():
            return {}
        words = self._words.tolist()
        states = words[_TYPE_AND_CODE::_WORDS]
        values = words[_VALUE::_WORDS]
        if states != self._states:  # types and codes rarely change from look to look
            self._plan(states)
        found: dict[KeyT, float] = dict(zip(self._wide_keys, [values[at] for at in self._wide], strict=True))
        if max(found.values(), default=0) >= _NO_COUNT:
            found = {key: value for key, value in found.items() if value < _NO_COUNT}
        for key, position, mask in self._narrow:
            value = values[position] & mask
            if value != mask:
                found[key] = value
        for key, position, value_type in self._others:
            number = decode(value_type, values[position])
            if number is not None:
                found[key] = number
        if not self._settled or any(self._codes):
            self._settle(self._codes)
        return found

    def _plan(self, states: list[int]) -> None:
        """Sort the fields that answered by how their values are read."""
        self._states = states
        self._codes = [state >> 32 for state in states]
        self._wide_keys: list[KeyT] = []
        self._wide: list[int] = []
        self._narrow: list[tuple[KeyT, int, int]] = []
        self._others: list[tuple[KeyT, int, int]] = []
        taken: set[KeyT] = set()
        for position, (key, state) in enumerate(zip(self._keys, states, strict=True)):
            if self._codes[position] != 0 or key in taken:
                continue
            taken.add(key)
            value_type = state & ALL_ONES_32
            mask = _UNSIGNED.get(value_type)
            if mask is None:
                self._others.append((key, position, value_type))
            elif mask == ALL_ONES_64:  # most fields: their words are their values
                self._wide_keys.append(key)
                self._wide.append(position)
            else:
                self._narrow.append((key, position, mask))

    def _settle(self, codes: Sequence[int]) -> None:
        """Drop the fields that were refused, and those that stand behind one of the same key that answered."""
        if any(code in LOSSES for code in codes):
            raise GpuLostError(self._device.label)
        kept: list[Field[KeyT]] = []
        answered: set[KeyT] = set()
        for field, code in zip(self._fields, codes, strict=True):
            if code in REFUSALS:
                _log.debug("field %d of %s: NVML error %d, not asked again", field.number, self._device.label, code)
            elif field.key not in answered:
                kept.append(field)
                if code == 0:
                    answered.add(field.key)
        if len(kept) < len(self._fields):
            self._prepare(tuple(kept))
        self._settled = True


def decode(value_type: int, word: int) -> float | None:
    """Return the number in a value's 64 bits by its type; bits beyond the type are undefined; all ones are None."""
    mask = _UNSIGNED.get(value_type)
    if mask is not None:
        word &= mask
        return None if word == mask or word >= _NO_COUNT else word
    mask = _SIGNED.get(value_type)
    if mask is not None:
        word &= mask
        return word - mask - 1 if word > mask >> 1 else word
    if value_type == pynvml.NVML_VALUE_TYPE_DOUBLE:
        number: float = struct.unpack("<d", struct.pack("<Q", word))[0]
        return number if math.isfinite(number) else None
    return None
