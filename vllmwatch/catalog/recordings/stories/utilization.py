"""Stories of utilization: peaks by data type, the slower of two cards, engines that do not estimate."""

from vllmwatch.catalog.recordings.stories.words import carried, engine_says, expect, nothing, of_engine, of_gpu
from vllmwatch.spec.story import Series, Story

_TIME = "10m"
_STEADY = "1x40"
_RECORDINGS = ("engine:flops_utilization:ratio_rate5m", "engine:memory_bandwidth_utilization:ratio_rate5m")


def _card(uuid: str, bf16: str, fp8: str, memory: str) -> tuple[Series, ...]:
    return (
        of_gpu("vllmwatch_gpu_peak_flops", f"{bf16}x40", uuid, data_type="bf16"),
        *([of_gpu("vllmwatch_gpu_peak_flops", f"{fp8}x40", uuid, data_type="fp8")] if fp8 else []),
        of_gpu("vllmwatch_gpu_peak_memory_bandwidth_bytes_per_second", f"{memory}x40", uuid),
    )


def _estimates(flops: str, read: str, written: str, engine: str = "0") -> tuple[Series, ...]:
    """Return vLLM's estimates, each as what is added every 30 seconds."""
    return (
        of_engine("vllm:estimated_flops_per_gpu_total", f"1e18+{flops}x40", engine),
        of_engine("vllm:estimated_read_bytes_per_gpu_total", f"1e15+{read}x40", engine),
        of_engine("vllm:estimated_write_bytes_per_gpu_total", f"1e15+{written}x40", engine),
    )


STORIES: tuple[Story, ...] = (
    Story(
        "two cards of an engine: what one of them does is set against the slower one, for each data type that it has",
        30,
        (
            *_card("GPU-0", "1000e12", "2000e12", "4e12"),
            *_card("GPU-1", "800e12", "1600e12", "3e12"),
            carried(_STEADY, "GPU-0", rank="TP0"),
            carried(_STEADY, "GPU-1", rank="TP1"),
            # 400e12 operations, 1e12 bytes read and 0.5e12 written a second.
            *_estimates("12e15", "30e12", "15e12"),
        ),
        (
            expect(_TIME, _RECORDINGS[0], engine_says(0.5, data_type="bf16"), engine_says(0.25, data_type="fp8")),
            expect(_TIME, _RECORDINGS[1], engine_says(0.5)),
        ),
    ),
    Story(
        "a card without fp8 has no share of it; an idle engine beside it has none at all",
        30,
        (
            *_card("GPU-0", "300e12", "", "2e12"),
            carried(_STEADY, "GPU-0", engine="0", rank="DP0"),
            carried(_STEADY, "GPU-0", engine="1", rank="DP1"),
            *_estimates("3e15", "30e12", "0"),
            *_estimates("0", "0", "0", "1"),
        ),
        (
            expect(_TIME, _RECORDINGS[0], engine_says(0.333333, data_type="bf16")),
            expect(_TIME, _RECORDINGS[1], engine_says(0.5)),
        ),
    ),
    Story(
        "an unknown card, and an instance that is a part of a card, have no peak to be set against",
        30,
        (
            *_card("GPU-0", "300e12", "", "2e12"),
            carried(_STEADY, "MIG-1", engine="0", rank="", parent_uuid="GPU-0"),
            carried(_STEADY, "GPU-7", engine="1"),
            *_estimates("3e15", "30e12", "0"),
            *_estimates("3e15", "30e12", "0", "1"),
        ),
        nothing(_TIME, *_RECORDINGS),
    ),
)
