"""The NVLinks of one GPU: state, traffic and errors by link, read in one call."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from vllmwatch.sources.nvml.fields import Field, FieldBatch
from vllmwatch.sources.nvml.library import Device, Number, pynvml
from vllmwatch.sources.nvml.snapshot import NvLink

KIB: Final = 1024
# Links that older drivers, which do not tell the number, are asked about: NVLink 4 and before have at most 18.
_MAX_LINKS: Final = 18
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

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where the figures of one link are among the fields that the GPU has."""

    state: Key
    transmit: tuple[Key, int]
    receive: tuple[Key, int]
    errors: tuple[tuple[str, Key], ...]


class NvLinks:
    """Reads the links of one GPU; `count` is None where the driver does not tell how many there are."""

    def __init__(self, device: Device, count: int | None) -> None:
        links = range(_MAX_LINKS if count is None else count)
        self._fields = FieldBatch(device, [field for link in links for field in _fields_of(link)])
        self._states = {link: device.number("nvmlDeviceGetNvLinkState", link) for link in links}
        self._keys: list[Key] = []
        self._layouts: dict[int, _Layout] = {}

    def read(self) -> tuple[NvLink, ...]:
        """Return the links that say anything."""
        if not self._states:
            return ()
        found = self._fields.read()
        if self._keys is not self._fields.keys:
            self._keys = self._fields.keys
            self._layouts = {link: _layout(link, set(self._keys)) for link in self._states}
        links = []
        for link, state in list(self._states.items()):
            read = _link(link, found, self._layouts[link], state)
            if read is not None:
                links.append(read)
            elif state.refused:
                del self._states[link]
        return tuple(links)


def _layout(link: int, keys: set[Key]) -> _Layout:
    ways = {
        way: ((f"{way}_kib", link), KIB) if (f"{way}_kib", link) in keys else ((f"{way}_bytes", link), 1)
        for way in ("transmit", "receive")
    }
    kinds = dict.fromkeys(kind for kind, _ in _ERRORS)
    errors = tuple((kind, (kind, link)) for kind in kinds if (kind, link) in keys)
    return _Layout(("state", link), ways["transmit"], ways["receive"], errors)


def _link(link: int, found: dict[Key, float], layout: _Layout, state: Number) -> NvLink | None:
    code = found.get(layout.state)
    if code is None:
        code = state.number()
    transmit = _traffic(found, layout.transmit)
    receive = _traffic(found, layout.receive)
    errors = {kind: int(found[key]) for kind, key in layout.errors if key in found}
    if code is None and transmit is None and receive is None and not errors:
        return None
    return NvLink(link, None if code is None else code in _UP_STATES, transmit, receive, errors)


def _traffic(found: dict[Key, float], place: tuple[Key, int]) -> int | None:
    value = found.get(place[0])
    return None if value is None else int(value) * place[1]


def _fields_of(link: int) -> Iterator[Field[Key]]:
    yield Field(("state", link), pynvml.NVML_FI_DEV_NVLINK_GET_STATE, link)
    yield Field(("transmit_kib", link), pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, link)
    yield Field(("receive_kib", link), pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, link)
    yield Field(("transmit_bytes", link), pynvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES, link)
    yield Field(("receive_bytes", link), pynvml.NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES, link)
    for kind, number in _ERRORS:
        yield Field((kind, link), number, link)
    if link < _LINKS_WITH_NUMBERS:
        for kind, first, later in _ERRORS_BY_LINK:
            ahead = link < _LINKS_OF_FIRST_BLOCK
            yield Field((kind, link), first + link if ahead else later + link - _LINKS_OF_FIRST_BLOCK)
