"""Stories of stragglers: one slow card of four, and groups in which nobody can lag."""

from vllmwatch.catalog.recordings.stories.words import SERVER, carried, expect, gpu_says, nothing, of_engine, of_gpu
from vllmwatch.spec.story import Check, Sample, Series, Story

_TIME = "10m"
_RUNNING = "vllm:num_requests_running"
_FOUR = tuple(f"GPU-{index}" for index in range(4))
_AGAINST_MEDIAN = (
    "engine_gpu:sm_clock:ratio_avg5m",
    "engine_gpu:power:ratio_avg5m",
    "engine_gpu:temperature_difference_celsius:avg5m",
    "engine_gpu:pcie_width:ratio",
)


def _card(uuid: str, clock: str, power: str, temperature: str, width: str) -> tuple[Series, ...]:
    return (
        of_gpu("vllmwatch_gpu_clock_hertz", f"{clock}x40", uuid, domain="sm"),
        of_gpu("vllmwatch_gpu_clock_hertz", "9e9x40", uuid, domain="memory"),
        of_gpu("vllmwatch_gpu_power_watts", f"{power}x40", uuid),
        of_gpu("vllmwatch_gpu_temperature_celsius", f"{temperature}x40", uuid),
        of_gpu("vllmwatch_gpu_pcie_link_width", f"{width}x40", uuid),
    )


def _says(recording: str, sound: float, slow: float) -> Check:
    """Return the check of four cards of which the last is slow."""
    return expect(_TIME, recording, *(_of(uuid, sound) for uuid in _FOUR[:3]), _of(_FOUR[3], slow))


def _of(uuid: str, value: float) -> Sample:
    return gpu_says(value, uuid, server=SERVER, engine="0")


_GROUP = (
    *(series for uuid in _FOUR[:3] for series in _card(uuid, "2e9", "700", "60", "16")),
    *_card(_FOUR[3], "1.4e9", "420", "75", "8"),
    *(carried("1x40", uuid, rank=f"TP{uuid[-1]}") for uuid in _FOUR),
)

STORIES: tuple[Story, ...] = (
    Story(
        "of four cards of an engine one is slow, hot and narrow: the median is that of the sound ones",
        30,
        (*_GROUP, of_engine(_RUNNING, "5x40")),
        (
            _says("engine_gpu:sm_clock_hertz:avg5m", 2e9, 1.4e9),
            _says("engine_gpu:power_watts:avg5m", 700, 420),
            _says("engine_gpu:temperature_celsius:avg5m", 60, 75),
            _says("engine_gpu:pcie_width:now", 16, 8),
            _says(_AGAINST_MEDIAN[0], 1, 0.7),
            _says(_AGAINST_MEDIAN[1], 1, 0.6),
            _says(_AGAINST_MEDIAN[2], 0, 15),
            _says(_AGAINST_MEDIAN[3], 1, 0.5),
        ),
    ),
    Story(
        "while an engine idles its cards are not compared",
        30,
        (*_GROUP, of_engine(_RUNNING, "0x40")),
        nothing(_TIME, *_AGAINST_MEDIAN),
    ),
    Story(
        "cards of different engines are no group",
        30,
        (
            *_card("GPU-0", "2e9", "700", "60", "16"),
            *_card("GPU-1", "1e9", "100", "30", "8"),
            carried("1x40", "GPU-0", engine="0"),
            carried("1x40", "GPU-1", engine="1"),
            of_engine(_RUNNING, "5x40", "0"),
            of_engine(_RUNNING, "5x40", "1"),
        ),
        nothing(_TIME, *_AGAINST_MEDIAN),
    ),
)
