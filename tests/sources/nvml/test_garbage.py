"""A driver that answers garbage: what cannot be true is absent, and no count is counted to without end."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass

import pytest

from tests.fake_nvml.cards import Lines
from tests.fake_nvml.plugin import Calls, Host
from tests.fake_nvml.presets import h100_host, mig_host, rtx_host, v100_host
from vllmwatch.sources.nvml import NvmlReader
from vllmwatch.sources.nvml.library import DownReason

pytestmark = pytest.mark.fake_nvml

ONES_32, ONES_64 = "4294967295", "18446744073709551615"
LARGEST_32, LARGEST_64 = "2147483647", "9223372036854775807"
# How the stand-in is built, not what the card says.
PLAN = ("Handle", "MaxMig", "SupportedEvent", "NumFans", "Serial")
# Lines whose numbers have 64 bits.
WIDE = ("Memory", "Energy", "Ecc", "Reasons", "Violation")


def garbled(lines: Lines, narrow: str, wide: str) -> Lines:
    """Put the same garbage in the place of every number that a card gives."""
    made: Lines = {}
    for key, value in lines.items():
        parts = value.split(",")
        if key.startswith("gpu.0.field."):
            made[key] = f"u32:{narrow}" if value.startswith(("u32", "i32")) else f"u64:{wide}"
        elif (
            key.startswith("gpu.0.")
            and not any(word in key for word in PLAN)
            and all(part.strip().lstrip("-").isdigit() for part in parts)
        ):
            made[key] = ",".join([wide if any(word in key for word in WIDE) else narrow] * len(parts))
        else:
            made[key] = value
    return made


def numbers(value: object, path: str = "") -> Iterator[tuple[str, float]]:
    """Yield all numbers in a snapshot, with their places."""
    if is_dataclass(value):
        for field in fields(value):
            yield from numbers(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield from numbers(entry, f"{path}[{key}]")
    elif isinstance(value, tuple):
        for index, entry in enumerate(value):
            yield from numbers(entry, f"{path}[{index}]")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


@pytest.fixture
def reader() -> Iterator[NvmlReader]:
    made = NvmlReader()
    yield made
    made.close()


@pytest.mark.parametrize("host", [h100_host, rtx_host, v100_host, mig_host])
@pytest.mark.parametrize(("narrow", "wide"), [(ONES_32, ONES_64), (LARGEST_32, LARGEST_64)])
def test_no_number_of_a_garbled_card_is_believed(
    nvml_host: Host, reader: NvmlReader, host: Callable[[], Lines], narrow: str, wide: str
) -> None:
    lines = host()
    one_card = {key: value for key, value in lines.items() if not key.startswith("process.")}
    nvml_host(garbled(one_card, narrow, wide))
    card = reader.snapshot().gpus[0]
    large = {path: value for path, value in numbers(card) if abs(value) > 1000}
    expected = {"2147483647"} if narrow == LARGEST_32 else set()
    assert {path for path, value in large.items() if str(value) not in expected} == set()
    assert card.identity.compute_capability is None
    assert card.facts is None or card.facts.power_limit_max_watts is None


@pytest.mark.parametrize("value", ["u32:4294967294", "u32:73", "u64:9223372036854775806"])
def test_count_of_links_that_no_card_has_is_not_counted_to(nvml_host: Host, reader: NvmlReader, value: str) -> None:
    nvml_host(h100_host(1) | {"gpu.0.field.91": value})
    began = time.monotonic()
    readings = reader.snapshot().gpus[0].readings
    assert time.monotonic() - began < 5
    assert readings is not None
    assert set(readings.nvlinks.up) == set(range(18))


def test_count_of_gpus_that_no_host_has_is_not_counted_to(
    nvml_host: Host, nvml_calls: Calls, reader: NvmlReader
) -> None:
    nvml_host(h100_host(1) | {"nvmlDeviceGetCount_v2": "4294967294"})
    snapshot = reader.snapshot()
    assert (snapshot.up, snapshot.down_reason, snapshot.unidentified) == (False, DownReason.UNKNOWN_ERROR, 0)
    assert nvml_calls.count("nvmlDeviceGetHandleByIndex_v2") == 0


@pytest.mark.parametrize(
    ("line", "asked", "most"),
    [
        ("gpu.0.nvmlDeviceGetNumFans", "nvmlDeviceGetFanSpeed_v2", 16),
        ("gpu.0.nvmlDeviceGetMaxMigDeviceCount", "nvmlDeviceGetMigDeviceHandleByIndex", 16),
    ],
)
def test_no_other_count_is_counted_to(
    nvml_host: Host, nvml_calls: Calls, reader: NvmlReader, line: str, asked: str, most: int
) -> None:
    nvml_host(h100_host(1) | mig_host() | {line: "2147483646"})
    nvml_calls.forget()
    assert reader.snapshot().gpus[0].up
    assert nvml_calls.count(asked) <= most


def test_instances_and_their_mode_end_together(nvml_host: Host, reader: NvmlReader) -> None:
    state = nvml_host(mig_host())
    card = reader.snapshot().gpus[0]
    assert card.facts is not None
    assert (card.facts.mig_mode, len(card.mig_instances)) == (True, 2)
    state.replace(h100_host(1))
    card = reader.snapshot().gpus[0]
    assert card.facts is not None
    assert (card.facts.mig_mode, card.mig_instances) == (False, ())
    assert card.readings is not None
    assert card.readings.utilization_ratio == 0.9
