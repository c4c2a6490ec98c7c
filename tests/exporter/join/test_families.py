"""The join as the lines of a page."""

from tests.exporter.join.looks import GIB, gpu, lost, nvml, sample, target
from vllmwatch.catalog import joined as catalog
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.join.families import add_join, add_kv_cache_sizes
from vllmwatch.exporter.join.links import Device, Joined, Link
from vllmwatch.spec.join import Holder, Unmapped


def lines(families: Families) -> list[str]:
    return [line for line in families.take_text().splitlines() if not line.startswith("#")]


def test_links_holders_and_reasons_are_lines() -> None:
    joined = Joined(
        (Link("box:8000", "0", "TP0", Device("GPU-A", 0)), Link("box:8001", "", "", Device("MIG-1", 1, "GPU-B"))),
        {("GPU-A", Holder.SERVER, "box:8000"): 5 * GIB, ("GPU-A", Holder.DEAD, ""): 7},
        {"GPU-B": frozenset({Unmapped.RAY, Unmapped.NO_TARGET})},
    )
    families = Families(catalog.METRICS)
    add_join(families, joined, nvml(gpu(0, name="what"), gpu(1, name="what")), "box")
    assert lines(families) == [
        (
            'vllmwatch_engine_gpu_info{node="box",server="box:8000",engine="0",rank="TP0",'
            'uuid="GPU-A",gpu="0",parent_uuid=""} 1'
        ),
        (
            'vllmwatch_engine_gpu_info{node="box",server="box:8001",engine="",rank="",'
            'uuid="MIG-1",gpu="1",parent_uuid="GPU-B"} 1'
        ),
        'vllmwatch_gpu_unmapped{node="box",uuid="GPU-B",gpu="1",reason="no_target"} 1',
        'vllmwatch_gpu_unmapped{node="box",uuid="GPU-B",gpu="1",reason="ray"} 1',
        'vllmwatch_gpu_held_memory_bytes{node="box",uuid="GPU-A",gpu="0",holder="server",server="box:8000"} 5368709120',
        'vllmwatch_gpu_held_memory_bytes{node="box",uuid="GPU-A",gpu="0",holder="dead",server=""} 7',
    ]


def test_a_known_card_says_what_it_can_do_and_an_unknown_one_nothing() -> None:
    families = Families(catalog.METRICS)
    add_join(families, Joined(), nvml(lost(gpu(0, name="NVIDIA H100 80GB HBM3")), gpu(1, name="what")), "box")
    assert lines(families) == [
        'vllmwatch_gpu_peak_flops{node="box",uuid="GPU-A",gpu="0",data_type="bf16"} 989500000000000.0',
        'vllmwatch_gpu_peak_flops{node="box",uuid="GPU-A",gpu="0",data_type="fp8"} 1979000000000000.0',
        'vllmwatch_gpu_peak_memory_bandwidth_bytes_per_second{node="box",uuid="GPU-A",gpu="0"} 3350000000000.0',
    ]


def test_a_target_without_a_page_has_no_size_of_its_cache() -> None:
    families = Families(catalog.METRICS)
    add_kv_cache_sizes(families, [sample(target(8000), "0")])
    assert lines(families) == []
