"""Field values: types, sentinels, and what is kept of several fields for one key."""

import struct

import pytest

from tests.fake_nvml.plugin import Calls, Host
from tests.fake_nvml.presets import h200_host
from vllmwatch.sources.nvml.fields import Field, FieldBatch, FieldGroups, _Part
from vllmwatch.sources.nvml.library import Device, GpuLostError, Library

GARBAGE = 0xAAAAAAAA00000000


@pytest.mark.parametrize(
    ("value_type", "word", "number"),
    [
        (0, struct.unpack("<Q", struct.pack("<d", 0.25))[0], 0.25),
        (1, GARBAGE | 44, 44),
        (1, GARBAGE | 0xFFFFFFFF, None),
        (2, 2**40, 2**40),
        (3, 2**40, 2**40),
        (3, 2**64 - 1, None),
        (3, 2**63 - 1, None),
        (3, 2**64 - 9, None),
        (0, struct.unpack("<Q", struct.pack("<d", float("nan")))[0], None),
        (0, struct.unpack("<Q", struct.pack("<d", float("inf")))[0], None),
        (4, 2**64 - 9, -9),
        (4, 9, 9),
        (5, GARBAGE | (2**32 - 8), -8),
        (5, GARBAGE | 7, 7),
        (6, GARBAGE | 500, 500),
        (6, GARBAGE | 0xFFFF, None),
        (17, 5, None),
    ],
)
def test_values_are_read_by_their_type(value_type: int, word: int, number: float | None) -> None:
    part = _Part(0, value_type, 1, ("before", "it"), (0, 1))
    assert dict(part.read([word, word])) == ({} if number is None else {"before": number, "it": number})


def test_one_value_that_is_none_costs_no_other() -> None:
    part = _Part(0, 3, 1024, ("a", "b", "c"), (2, 1, 0))
    assert dict(part.read([1, 2**64 - 1, 3])) == {"a": 3 * 1024, "c": 1024}


def test_groups_of_fields_have_keys_and_units_of_their_own(nvml_host: Host, nvml_calls: Calls) -> None:
    nvml_host(h200_host() | {"gpu.0.field.138.0": "u64:7", "gpu.0.field.138.1": "u64:8", "gpu.0.field.139.0": "u32:9"})
    library = Library()
    groups = FieldGroups(
        Device(library, library.handle(0), "GPU 0"),
        ([Field(0, 138, 0, 1024), Field(1, 138, 1, 1024)], [Field(0, 139, 0), Field(7, 250)], []),
    )
    nvml_calls.forget()
    for _ in range(2):
        assert groups.read() == [{0: 7 * 1024, 1: 8 * 1024}, {0: 9}, {}]
    assert (groups.asks(1, 0), groups.asks(1, 7), groups.asks(2, 0)) == (True, False, False)
    assert nvml_calls.count("nvmlDeviceGetFieldValues") == 2
    library.close()


def test_first_supported_field_of_a_key_wins_and_the_rest_is_dropped(nvml_host: Host, nvml_calls: Calls) -> None:
    state = nvml_host(h200_host())
    state.unset("gpu.0.field.269")
    library = Library()
    device = Device(library, library.handle(0), "GPU 0")
    batch = FieldBatch(device, [Field("thermal", 269), Field("thermal", 75), Field("cap", 74), Field("cap", 77)])
    assert batch.read() == {"thermal": 1_500_000_000, "cap": 8_123_456_789_000}
    nvml_calls.forget()
    assert batch.read() == {"thermal": 1_500_000_000, "cap": 8_123_456_789_000}
    assert {number: nvml_calls.count(f"field.{number}") for number in (269, 75, 74, 77)} == {
        269: 0,
        75: 1,
        74: 1,
        77: 0,
    }
    library.close()


def test_field_that_fails_for_now_is_kept(nvml_host: Host) -> None:
    state = nvml_host(h200_host())
    state.fail("gpu.0.field.83", 999)
    library = Library()
    batch = FieldBatch(Device(library, library.handle(0), "GPU 0"), [Field("energy", 83)])
    assert batch.read() == {}
    state.set("gpu.0.field.83", "u64:5")
    assert batch.read() == {"energy": 5}
    state.fail("gpu.0.field.83", 15)
    with pytest.raises(GpuLostError):
        batch.read()
    library.close()
