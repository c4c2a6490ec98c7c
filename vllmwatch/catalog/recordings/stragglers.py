"""Stragglers: each GPU of an engine against the median of the engine's GPUs, while the engine runs something."""

from vllmwatch.catalog.gpu import GPU_CLOCK, GPU_POWER, GPU_TEMPERATURE
from vllmwatch.catalog.gpu_health import GPU_PCIE_WIDTH
from vllmwatch.catalog.recordings.join import ENGINE_GPU
from vllmwatch.catalog.recordings.terms import DEVICE, ENGINE_OF, ON_DEVICE, own
from vllmwatch.spec.promql import aggregate, labels_text
from vllmwatch.spec.recording import MULTIPLE, Group, Recording
from vllmwatch.spec.unit import CELSIUS, COUNT, HERTZ, WATTS, Unit

_RUNNING = "vllmwatch:engine:requests_running:max"


def _reading(figure: str, how: str, help_text: str, unit: Unit, of_gpu: str) -> Recording:
    expression = f"{ENGINE_GPU} * {ON_DEVICE} group_left () {aggregate('max', DEVICE, of_gpu)}"
    return Recording("engine_gpu", figure, how, help_text, unit, expression)


def _against_median(reading: Recording, operator: str, figure: str, how: str, unit: Unit) -> Recording:
    """Return a reading divided by the group's median, or less it; of groups of at least two GPUs."""
    median = f"quantile by ({labels_text(ENGINE_OF)}) (0.5, {reading.name})"
    group_size = aggregate("count", ENGINE_OF, reading.name)
    above_zero = " > 0" if operator == "/" else ""
    word = "divided by" if operator == "/" else "less"
    return Recording(
        "engine_gpu",
        figure,
        how,
        f"{reading.help.removesuffix('.')}, {word} the median of the engine's GPUs; absent while it runs nothing.",
        unit,
        f"{reading.name}\n{operator} on ({labels_text(ENGINE_OF)}) group_left ()\n"
        f"({median}{above_zero} and {group_size} > 1)\n"
        f"and on (server, engine) ({_RUNNING} > 0)",
    )


_SM_CLOCK = own(GPU_CLOCK, 'domain="sm"', window="5m")

_CLOCK = _reading(
    "sm_clock_hertz",
    "avg5m",
    "SM clock of a GPU of an engine.",
    HERTZ,
    f"avg_over_time({_SM_CLOCK})",
)
_POWER = _reading(
    "power_watts",
    "avg5m",
    "Power of a GPU of an engine.",
    WATTS,
    f"avg_over_time({own(GPU_POWER, window='5m')})",
)
_TEMPERATURE = _reading(
    "temperature_celsius",
    "avg5m",
    "Temperature of a GPU of an engine.",
    CELSIUS,
    f"avg_over_time({own(GPU_TEMPERATURE, window='5m')})",
)
_WIDTH = _reading("pcie_width", "now", "PCIe lanes of a GPU of an engine.", COUNT, own(GPU_PCIE_WIDTH))

GROUP = Group(
    "stragglers",
    "Each GPU of an engine against the median of the engine's GPUs.",
    30,
    (
        _CLOCK,
        _POWER,
        _TEMPERATURE,
        _WIDTH,
        _against_median(_CLOCK, "/", "sm_clock", "ratio_avg5m", MULTIPLE),
        _against_median(_POWER, "/", "power", "ratio_avg5m", MULTIPLE),
        _against_median(_TEMPERATURE, "-", "temperature_difference_celsius", "avg5m", CELSIUS),
        _against_median(_WIDTH, "/", "pcie_width", "ratio", MULTIPLE),
    ),
)
