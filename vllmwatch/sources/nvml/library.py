"""The one door to NVML: every call stands alone, and its error is data.

pynvml finds and initializes the library and gives the structures; the calls go straight to the library's functions with
arguments that are made once, since a scrape of eight GPUs makes hundreds of them.
"""

import ctypes
import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Any

import pynvml as _untyped_pynvml

# The binding carries no types.
pynvml: Any = _untyped_pynvml

_log = logging.getLogger(__name__)

ALL_ONES_32 = 0xFFFFFFFF
ALL_ONES_64 = 0xFFFFFFFFFFFFFFFF

# More than any host has: a larger count is none, and must not be counted to.
_MAX_GPUS = 1024

# What a GPU or a driver refuses once with one of these, it will refuse until NVML is initialized anew.
REFUSALS = frozenset(
    {
        pynvml.NVML_ERROR_INVALID_ARGUMENT,
        pynvml.NVML_ERROR_NOT_SUPPORTED,
        pynvml.NVML_ERROR_NO_PERMISSION,
        pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
        pynvml.NVML_ERROR_VGPU_ECC_NOT_SUPPORTED,
        pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH,
        pynvml.NVML_ERROR_DEPRECATED,
    }
)
LOSSES = frozenset({pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED, pynvml.NVML_ERROR_GPU_NOT_FOUND})


class DownReason(StrEnum):
    """Why NVML cannot be used."""

    LIBRARY_NOT_FOUND = "library_not_found"
    DRIVER_NOT_LOADED = "driver_not_loaded"
    VERSION_MISMATCH = "version_mismatch"
    NO_PERMISSION = "no_permission"
    UNKNOWN_ERROR = "unknown_error"
    # Said by whoever waits for a look, not by NVML: the driver does not answer in time.
    TIMEOUT = "timeout"


_DOWN = {
    pynvml.NVML_ERROR_UNINITIALIZED: DownReason.DRIVER_NOT_LOADED,
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: DownReason.DRIVER_NOT_LOADED,
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: DownReason.VERSION_MISMATCH,
}
_DOWN_AT_START = _DOWN | {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: DownReason.LIBRARY_NOT_FOUND,
    pynvml.NVML_ERROR_NO_PERMISSION: DownReason.NO_PERMISSION,
}


class NvmlDownError(Exception):
    """NVML as a whole cannot be used, for now."""

    def __init__(self, reason: DownReason) -> None:
        super().__init__(reason)
        self.reason = reason


class GpuLostError(Exception):
    """A GPU has fallen off the bus, or needs a reset before it answers again."""


class Reading:
    """One call with its arguments, made once and repeated; it is not repeated after a refusal."""

    __slots__ = ("_arguments", "_call", "_told", "_what", "refused")

    def __init__(self, call: Callable[..., int] | None, what: str, *arguments: Any) -> None:
        self._call: Callable[..., int] = call or _function_not_found
        self._arguments = arguments
        self._what = what
        self._told = False
        self.refused = False

    def read(self) -> bool:
        """Make the call and return whether it succeeded; raise when the GPU or the driver is gone."""
        if self.refused:
            return False
        code = self._call(*self._arguments)
        if code == 0:
            return True
        return self._judge(code)

    def code(self) -> int:
        """Make the call and return NVML's code, judged by the caller."""
        return int(self._call(*self._arguments))

    def _judge(self, code: int) -> bool:
        if code in LOSSES:
            raise GpuLostError(self._what)
        if code in _DOWN:
            raise NvmlDownError(_DOWN[code])
        self.refused = code in REFUSALS
        if not self._told:
            _log.debug("%s: NVML error %d%s", self._what, code, ", not asked again" if self.refused else "")
            self._told = True
        return False


class Number(Reading):
    """A call that gives one whole number; all-ones values are NVML's way to say that there is none."""

    __slots__ = ("_empty", "_out")

    def __init__(self, call: Callable[..., int] | None, what: str, *arguments: Any, wide: bool = False) -> None:
        self._out = ctypes.c_ulonglong() if wide else ctypes.c_uint()
        self._empty = ALL_ONES_64 if wide else ALL_ONES_32
        super().__init__(call, what, *arguments, ctypes.byref(self._out))

    def number(self) -> int | None:
        """Return the number, or None."""
        if not self.read():
            return None
        value = self._out.value
        return None if value == self._empty else value


class FirstOf:
    """Readings of the same thing in the order of preference: the first that is not refused is asked."""

    __slots__ = ("_readings",)

    def __init__(self, *readings: Number) -> None:
        self._readings = readings

    def number(self) -> int | None:
        """Return the number, or None."""
        for reading in self._readings:
            if reading.refused:
                continue
            value = reading.number()
            if not reading.refused:
                return value
        return None


class TwoNumbers:
    """A call that fills two numbers: both kinds of utilization, say, which are fields of one structure."""

    __slots__ = ("_reading", "_values")

    def __init__(self, device: "Device", name: str, *, as_structure: bool = False) -> None:
        self._values = (ctypes.c_uint * 2)()
        second = ctypes.byref(self._values, ctypes.sizeof(ctypes.c_uint))
        arguments = (self._values,) if as_structure else (self._values, second)
        self._reading = device.reading(name, *arguments)

    def read(self) -> tuple[int, int] | tuple[None, None]:
        """Return both numbers, or two None."""
        if not self._reading.read():
            return None, None
        return self._values[0], self._values[1]


class Library:
    """NVML, initialized. Raises NvmlDownError where it cannot be; `close` must follow."""

    def __init__(self) -> None:
        try:
            pynvml.nvmlInit()
        except pynvml.NVMLError as error:
            raise NvmlDownError(_DOWN_AT_START.get(error.value, DownReason.UNKNOWN_ERROR)) from error
        self._dll = pynvml.nvmlLib
        self._functions: dict[str, Callable[..., int] | None] = {}
        self._count = Number(self.function("nvmlDeviceGetCount_v2"), "nvmlDeviceGetCount_v2")

    def function(self, name: str) -> Callable[..., int] | None:
        """Return a function of the library, or None where this driver lacks it."""
        if name not in self._functions:
            self._functions[name] = getattr(self._dll, name, None)
        return self._functions[name]

    def has(self, name: str) -> bool:
        """Say whether this driver has a function."""
        return self.function(name) is not None

    def count(self) -> int:
        """Return how many GPUs the driver counts, lost ones among them; raise when the driver does not answer."""
        try:
            value = self._count.number()
        except GpuLostError:
            value = None
        if value is None or value > _MAX_GPUS:
            raise NvmlDownError(DownReason.UNKNOWN_ERROR)
        return value

    def system_text(self, name: str) -> str | None:
        """Return a text about the library as a whole, such as the driver's version."""
        return read_text(self.function(name), name)

    def system_number(self, name: str) -> int | None:
        """Return a number about the library as a whole."""
        return Number(self.function(name), name).number()

    def handle(self, index: int) -> Any:
        """Return the handle of a GPU by index; raise GpuLostError when it does not answer."""
        handle = pynvml.c_nvmlDevice_t()
        name = "nvmlDeviceGetHandleByIndex_v2"
        if not Reading(self.function(name), name, ctypes.c_uint(index), ctypes.byref(handle)).read():
            raise GpuLostError(name)
        return handle

    def close(self) -> None:
        """Give NVML back; errors are of no use by then."""
        try:
            pynvml.nvmlShutdown()
        except pynvml.NVMLError as error:
            _log.debug("nvmlShutdown: %s", error)


class Device:
    """The calls about one GPU or MIG device."""

    def __init__(self, library: Library, handle: Any, label: str) -> None:
        self.library = library
        self.handle = handle
        self.label = label

    def reading(self, name: str, *arguments: Any) -> Reading:
        """Prepare a call; `arguments` follow the handle."""
        return Reading(self.library.function(name), f"{name} of {self.label}", self.handle, *arguments)

    def number(self, name: str, *arguments: int, wide: bool = False) -> Number:
        """Prepare a call that gives one number of 32 bits, or of 64 where `wide`."""
        given = [ctypes.c_uint(argument) for argument in arguments]
        return Number(self.library.function(name), f"{name} of {self.label}", self.handle, *given, wide=wide)

    def text(self, name: str, *, with_length: bool = True) -> str | None:
        """Read a text now."""
        return read_text(self.library.function(name), f"{name} of {self.label}", self.handle, with_length=with_length)


def read_text(call: Callable[..., int] | None, what: str, *arguments: Any, with_length: bool = True) -> str | None:
    """Make a call that fills a buffer with text; None where there is none."""
    buffer = ctypes.create_string_buffer(256)
    length = (ctypes.c_uint(len(buffer)),) if with_length else ()
    if not Reading(call, what, *arguments, buffer, *length).read():
        return None
    return buffer.value.decode("utf-8", "replace").strip() or None


def _function_not_found(*_arguments: Any) -> int:
    return int(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
