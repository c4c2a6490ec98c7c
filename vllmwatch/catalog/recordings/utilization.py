"""Utilization: vLLM's estimates of its work against what the cards can do at most."""

from vllmwatch.catalog.joined import DATA_TYPE, ENGINE_GPU_INFO, GPU_PEAK_FLOPS, GPU_PEAK_MEMORY_BANDWIDTH
from vllmwatch.catalog.recordings.terms import DEVICE, ENGINE_OF, ON_DEVICE, engine_rate, own
from vllmwatch.spec.promql import aggregate, either, labels_text
from vllmwatch.spec.recording import Group, Recording
from vllmwatch.spec.unit import RATIO

# By the UUID of what the worker runs on: a MIG instance has a part of its card's peak, and none under its own UUID.
_DEVICES = aggregate("max", (*ENGINE_OF, "uuid"), own(ENGINE_GPU_INFO))
_ON = f"on ({labels_text(ENGINE_OF)})"


def _peak_of_type(data_type: str) -> str:
    peak = aggregate("max", (*DEVICE, DATA_TYPE.name), own(GPU_PEAK_FLOPS, f'{DATA_TYPE.name}="{data_type}"'))
    return f"{_DEVICES} * {ON_DEVICE} group_left ({DATA_TYPE.name}) {peak}"


_FLOPS_PEAK = aggregate(
    "min", (*ENGINE_OF, DATA_TYPE.name), f"\n{either(*(_peak_of_type(each) for each in DATA_TYPE.values))}\n"
)
_BANDWIDTH_PEAK = aggregate(
    "min",
    ENGINE_OF,
    f"{_DEVICES} * {ON_DEVICE} group_left () {aggregate('max', DEVICE, own(GPU_PEAK_MEMORY_BANDWIDTH))}",
)
_FLOPS = engine_rate("vllm:estimated_flops_per_gpu_total")
_BYTES = " + ".join(engine_rate(f"vllm:estimated_{way}_bytes_per_gpu_total") for way in ("read", "write"))

GROUP = Group(
    "utilization",
    "vLLM's estimates of its work against what the cards can do at most.",
    30,
    (
        Recording(
            "engine",
            "flops_utilization",
            "ratio_rate5m",
            "Estimated floating-point operations against the peak of the engine's slowest card, by data type; "
            "absent while they do not move.",
            RATIO,
            f"({_FLOPS} > 0)\n/ {_ON} group_right (model_name)\n{_FLOPS_PEAK}",
            (DATA_TYPE,),
        ),
        Recording(
            "engine",
            "memory_bandwidth_utilization",
            "ratio_rate5m",
            "Estimated bytes read and written against the peak of the engine's slowest card; "
            "absent while they do not move.",
            RATIO,
            f"({_BYTES} > 0)\n/ {_ON} group_left ()\n{_BANDWIDTH_PEAK}",
        ),
    ),
)
