"""The NVLinks of one GPU: state, traffic and errors by link, read in one call."""

from collections.abc import Iterator, Mapping
from typing import Final

from vllmwatch.sources.nvml.fields import Field, FieldBatch
from vllmwatch.sources.nvml.library import Device, pynvml
from vllmwatch.sources.nvml.snapshot import NvLinks

KIB: Final = 1024
# Links that older drivers, which do not tell the number, are asked about: NVLink 4 and before have at most 18.
_LINKS_WHERE_NOT_TOLD: Final = 18
_STATES: Final = frozenset({0, 1, 2, 3})
_UP_STATES: Final = frozenset({1, 2})  # active, and asleep to save power; 3 is up and unusable

# Errors by kind, newest form first. Links of Blackwell answer only for the last four kinds.
_ERRORS: Final = (
    ("replay", pynvml.NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY),
    ("recovery", pynvml.NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY),
    ("crc", pynvml.NVML_FI_DEV_NVLINK_ERROR_DL_CRC),
    ("receive", pynvml.NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS),
    ("transmit_discard", pynvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_DISCARDS),
    ("recovery", pynvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS),
    ("recovery_failed", pynvml.NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_FAILED_EVENTS),
)
# Before Hopper each link had field numbers of its own: of link 0, and of link 6, from where they go on.
_ERRORS_BY_LINK: Final = (
    ("replay", pynvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L0, pynvml.NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_L6),
    ("recovery", pynvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L0, pynvml.NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_L6),
    ("crc", pynvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L0, pynvml.NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L6),
)
_LINKS_OF_FIRST_BLOCK: Final = 6
_LINKS_WITH_NUMBERS: Final = 12

Key = tuple[int, str]
"""A link and one of its figures."""


class NvLinkReading:
    """Reads the links of one GPU; `count` is None where the driver does not tell how many there are."""

    def __init__(self, device: Device, count: int | None) -> None:
        self._links = range(_LINKS_WHERE_NOT_TOLD if count is None else count)
        self._fields = FieldBatch(device, [field for link in self._links for field in _fields_of(link)])
        self._states = {(link, "state"): device.number("nvmlDeviceGetNvLinkState", link) for link in self._links}
        self._keys: list[Key] = []
        self._errors: tuple[Key, ...] = ()

    def read(self) -> NvLinks:
        """Return what the links say."""
        found = self._fields.read()
        if self._keys is not self._fields.keys:
            self._keys = self._fields.keys
            self._sort_keys()
        return NvLinks(
            up={link: code in _UP_STATES for link, code in self._state_codes(found) if code in _STATES},
            transmit_bytes={key[0]: int(found[key]) * unit for key, unit in self._transmit if key in found},
            receive_bytes={key[0]: int(found[key]) * unit for key, unit in self._receive if key in found},
            errors={key: int(found[key]) for key in self._errors if key in found},
        )

    def _sort_keys(self) -> None:
        """Sort the figures that the GPU has by what they are."""
        kinds = {kind for kind, _ in _ERRORS}
        self._errors = tuple(dict.fromkeys(key for key in self._keys if key[1] in kinds))
        self._transmit = self._traffic("transmit")
        self._receive = self._traffic("receive")

    def _traffic(self, way: str) -> list[tuple[Key, int]]:
        """Return where the traffic of each link is, and the bytes in its unit."""
        present = set(self._keys)
        places = [((link, f"{way}_kib"), (link, f"{way}_bytes")) for link in self._links]
        return [(kib, KIB) if kib in present else (plain, 1) for kib, plain in places]

    def _state_codes(self, found: Mapping[Key, float]) -> Iterator[tuple[int, float]]:
        for key, asked in list(self._states.items()):
            code = found.get(key)
            if code is None:
                code = asked.number()
            if code is not None:
                yield key[0], code
            elif asked.refused and key not in self._keys:
                del self._states[key]


def _fields_of(link: int) -> Iterator[Field[Key]]:
    yield Field((link, "state"), pynvml.NVML_FI_DEV_NVLINK_GET_STATE, link)
    yield Field((link, "transmit_kib"), pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, link)
    yield Field((link, "receive_kib"), pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, link)
    yield Field((link, "transmit_bytes"), pynvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES, link)
    yield Field((link, "receive_bytes"), pynvml.NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES, link)
    for kind, number in _ERRORS:
        yield Field((link, kind), number, link)
    if link < _LINKS_WITH_NUMBERS:
        for kind, first, later in _ERRORS_BY_LINK:
            ahead = link < _LINKS_OF_FIRST_BLOCK
            yield Field((link, kind), first + link if ahead else later + link - _LINKS_OF_FIRST_BLOCK)
