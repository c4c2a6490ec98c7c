"""What devices are called: by people, by CUDA and by NVIDIA's container toolkit."""

import pytest

from tests.exporter.join.looks import gpu, instance, nvml
from vllmwatch.exporter.join.devices import Devices, OrderUnknownError
from vllmwatch.sources.processes.environment import VisibleDevices

MIG = (instance("MIG-1f3a0c52-0001", 2, 0), instance("MIG-1f3a0c52-0002", 2, 1), instance("MIG-77", 5, 0))
ALIKE = nvml(gpu(0), gpu(1), gpu(2))
MIXED = nvml(gpu(0, name="NVIDIA L4"), gpu(1, name="NVIDIA L40S"), gpu(2, name="NVIDIA L4"))
CUT = nvml(gpu(0, instances=MIG), gpu(1))


def visible(snapshot: object = ALIKE, **variables: str | bool) -> list[str]:
    devices = Devices(snapshot)  # type: ignore[arg-type]
    given = {"shared_view": True, **variables}
    return [device.uuid for device in devices.visible(VisibleDevices(**given))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "uuid"),
    [
        ("GPU-A", "GPU-A"),
        (" GPU-B ", "GPU-B"),
        ("1", "GPU-B"),
        ("3", None),
        ("-1", None),
        ("9" * 5000, None),
        ("0000:18:00.0", "GPU-B"),
        ("00000000:c1:00.0", "GPU-A"),
        ("18:00.0", "GPU-B"),
        ("18:00", "GPU-B"),
        ("0000:18:00", "GPU-B"),
        ("0001:18:00.0", None),
        ("GPU-", None),
        ("GPU-a", None),
        ("", None),
    ],
)
def test_a_name_is_a_uuid_an_index_of_nvml_or_a_place_on_the_bus(name: str, uuid: str | None) -> None:
    found = Devices(ALIKE).named(name)
    assert (found.uuid if found else None) == uuid


@pytest.mark.parametrize(
    ("name", "uuid"),
    [
        ("MIG-77", "MIG-77"),
        ("MIG-7", "MIG-77"),
        ("MIG-1f3a0c52-0002", "MIG-1f3a0c52-0002"),
        ("MIG-1f3a", None),
        ("MIG-GPU-A/2/1", "MIG-1f3a0c52-0002"),
        ("MIG-GPU-A/5/0", "MIG-77"),
        ("MIG-GPU-B/2/1", None),
        ("MIG-GPU-A/2/9", None),
    ],
)
def test_mig_instances_have_names_of_two_kinds(name: str, uuid: str | None) -> None:
    """The old kind, GPU and numbers of its instances, is that of drivers before 470."""
    found = Devices(CUT).named(name)
    assert (found.uuid if found else None) == uuid
    if found is not None:
        assert (found.parent_uuid, found.gpu_uuid, found.index) == ("GPU-A", "GPU-A", 0)


def test_the_whole_uuid_wins_over_those_that_begin_with_it() -> None:
    devices = Devices(nvml(gpu(0, uuid="GPU-12"), gpu(1, uuid="GPU-1")))
    found = devices.named("GPU-1")
    assert found is not None
    assert found.index == 1
    assert devices.named("GPU-12") != found


def test_cuda_numbers_cards_of_one_kind_by_their_place_on_the_bus() -> None:
    assert visible() == ["GPU-B", "GPU-C", "GPU-A"]
    assert visible(cuda="0") == ["GPU-B"]
    assert visible(cuda="2,0") == ["GPU-A", "GPU-B"]


def test_numbers_tell_nothing_on_cards_of_different_kinds_unless_the_order_is_that_of_the_bus() -> None:
    with pytest.raises(OrderUnknownError):
        visible(MIXED, cuda="0")
    with pytest.raises(OrderUnknownError):
        visible(MIXED, cuda="0", order="FASTEST_FIRST")
    assert visible(MIXED, cuda="0", order="PCI_BUS_ID") == ["GPU-B"]
    assert visible(MIXED, cuda="GPU-C,GPU-A") == ["GPU-C", "GPU-A"]


@pytest.mark.parametrize(
    ("variable", "uuids"),
    [
        ("1,7,0", ["GPU-C"]),
        ("0,-1,1", ["GPU-B"]),
        ("NoDevFiles", []),
        ("", []),
        ("-1", []),
        ("GPU-A,GPU-X,GPU-B", ["GPU-A"]),
        ("0,0", ["GPU-B"]),
        (f"{'1' * 5000},0", []),
        ("1, 0", ["GPU-C", "GPU-B"]),
    ],
)
def test_cuda_hides_all_from_the_first_name_on_that_it_does_not_know(variable: str, uuids: list[str]) -> None:
    assert visible(cuda=variable) == uuids


def test_the_toolkit_lets_in_what_nvml_numbers_and_cuda_counts_within_that() -> None:
    assert visible(shared_view=False, nvidia="0,1") == ["GPU-B", "GPU-A"]
    assert visible(shared_view=False, nvidia="0,1", cuda="1") == ["GPU-A"]
    assert visible(shared_view=False, nvidia="GPU-A,GPU-C", cuda="0") == ["GPU-C"]
    assert visible(shared_view=False, nvidia="all", cuda="0") == ["GPU-B"]
    assert visible(shared_view=False, nvidia="0,1", cuda="GPU-C") == []
    assert visible(shared_view=False, nvidia="0,1", cuda="GPU-A") == ["GPU-A"]


@pytest.mark.parametrize("variable", [None, "void", "none", "", "0,9", "0:1,1"])
def test_a_container_whose_variable_does_not_name_its_devices_tells_nothing_by_numbers(variable: str | None) -> None:
    given = {} if variable is None else {"nvidia": variable}
    with pytest.raises(OrderUnknownError):
        visible(shared_view=False, cuda="0", **given)
    with pytest.raises(OrderUnknownError):
        visible(shared_view=False, **given)


@pytest.mark.parametrize("variable", [None, "void", "none"])
def test_a_uuid_tells_whatever_the_container_was_given(variable: str | None) -> None:
    given = {} if variable is None else {"nvidia": variable}
    assert visible(shared_view=False, cuda="GPU-C", **given) == ["GPU-C"]


def test_in_our_own_container_the_numbers_of_the_host_do_not_count() -> None:
    """The toolkit let in the host's second and third GPU; NVML numbers them 0 and 1 here."""
    inside = nvml(gpu(0, uuid="GPU-second"), gpu(1, uuid="GPU-third"))
    assert visible(inside, nvidia="1,2") == ["GPU-second", "GPU-third"]
    assert visible(inside, nvidia="1,2", cuda="1") == ["GPU-third"]


def test_a_mig_instance_is_let_in_with_its_gpu() -> None:
    assert visible(CUT, shared_view=False, nvidia="GPU-A", cuda="MIG-77") == ["MIG-77"]
    assert visible(CUT, shared_view=False, nvidia="GPU-B", cuda="MIG-77") == []
    assert visible(CUT, shared_view=False, nvidia="MIG-77") == ["MIG-77"]
