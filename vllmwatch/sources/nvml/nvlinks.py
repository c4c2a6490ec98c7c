"""The NVLinks of one GPU: state, traffic and errors by link, read in one call."""

from collections.abc import Iterator
from typing import Final

from vllmwatch.sources.nvml.fields import Field, FieldGroups
from vllmwatch.sources.nvml.library import Device, pynvml
from vllmwatch.sources.nvml.snapshot import NvLinks

KIB: Final = 1024
# The first of the groups of fields.
_STATE_GROUP: Final = 0
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


class NvLinkReading:
    """Reads the links of one GPU; `count` is None where the driver does not tell how many there are."""

    def __init__(self, device: Device, count: int | None) -> None:
        links = range(_LINKS_WHERE_NOT_TOLD if count is None else count)
        self._fields = FieldGroups(
            device,
            (
                [Field(link, pynvml.NVML_FI_DEV_NVLINK_GET_STATE, link) for link in links],
                [field for link in links for field in _transmitted(link)],
                [field for link in links for field in _received(link)],
                [field for link in links for field in _errors(link)],
            ),
        )
        self._states = {link: device.number("nvmlDeviceGetNvLinkState", link) for link in links}

    def read(self) -> NvLinks:
        """Return what the links say."""
        states, transmitted, received, errors = self._fields.read()
        if len(states) < len(self._states):
            self._ask_for_states(states)
        up = {link: code in _UP_STATES for link, code in states.items() if code in _STATES}
        return NvLinks(up, transmitted, received, errors)

    def _ask_for_states(self, states: dict[int, int]) -> None:
        """Add the states that drivers tell in a call of their own."""
        for link, asked in list(self._states.items()):
            if link in states:
                continue
            code = asked.number()
            if code is not None:
                states[link] = code
            elif asked.refused and not self._fields.asks(_STATE_GROUP, link):
                del self._states[link]


def _transmitted(link: int) -> Iterator[Field[int]]:
    yield Field(link, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_TX, link, unit=KIB)
    yield Field(link, pynvml.NVML_FI_DEV_NVLINK_COUNT_XMIT_BYTES, link)


def _received(link: int) -> Iterator[Field[int]]:
    yield Field(link, pynvml.NVML_FI_DEV_NVLINK_THROUGHPUT_DATA_RX, link, unit=KIB)
    yield Field(link, pynvml.NVML_FI_DEV_NVLINK_COUNT_RCV_BYTES, link)


def _errors(link: int) -> Iterator[Field[tuple[int, str]]]:
    for kind, number in _ERRORS:
        yield Field((link, kind), number, link)
    if link < _LINKS_WITH_NUMBERS:
        for kind, first, later in _ERRORS_BY_LINK:
            ahead = link < _LINKS_OF_FIRST_BLOCK
            yield Field((link, kind), first + link if ahead else later + link - _LINKS_OF_FIRST_BLOCK)
