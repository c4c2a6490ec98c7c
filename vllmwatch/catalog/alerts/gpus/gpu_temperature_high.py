"""A GPU is hotter than the threshold.

## What it means

For five minutes the core of the GPU was above the threshold, 85 °C unless set otherwise. The card still works at full
speed: data-centre cards slow themselves down some degrees later.

## Why it matters

It is the time to look at the cooling, before clocks fall and answers get slow. `GpuThermalThrottle` tells when the card
slows itself down, `GpuNearSlowdown` when it is about to halve its clocks.

## First look

- `max by (node, uuid) (vllmwatch_gpu_temperature_celsius{node="…"})`: one GPU, or all of the node?
- `nvidia-smi -q -d TEMPERATURE -i UUID`: the limits of this card, and the temperature of its memory.
- `vllmwatch_gpu_fan_speed_ratio` for cards with fans; for others the fans of the chassis, as the BMC shows them.

## What to do

1. All GPUs of the node are hot: the room, the fans of the chassis, or a blocked inlet. Call whoever runs the room.
2. One GPU is hot: its place in the air flow, dust, or its heat sink. Move its load away, and have it looked at.
3. Until then draw less: `nvidia-smi -i UUID -pl WATTS` lowers the limit of power, at some speed.

## When it lies

Cards differ: an A100 is built to work at up to 85 °C, an H100 at up to 87 °C, and workstation cards at more. Set
`gpu_temperature_celsius` to what your cards are built for.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.catalog.thresholds import GPU_TEMPERATURE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_CORE = "vllmwatch_gpu_temperature_celsius"

ALERT = Alert(
    name="GpuTemperatureHigh",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    threshold=GPU_TEMPERATURE.key,
    expression=f"max by (node, uuid) ({_CORE}) > <threshold>",
    hold="5m",
    keep_firing="5m",
    causes=("GpuNearSlowdown",),
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} is hot",
    description=('{{ $labels.uuid }} of {{ $labels.node }} has {{ $value | printf "%.0f" }} °C, above its threshold.'),
    board=Board.GPU,
    cases=(
        fires(
            "a degree above the threshold for five minutes",
            reading(_CORE, then(steady(80, "10m"), steady(86, "10m"))),
            at("14m"),
            at("16m", gpu()),
        ),
        quiet("at the threshold, not above it", reading(_CORE, steady(85, "30m")), at("30m")),
        quiet(
            "hot for four minutes",
            reading(_CORE, then(steady(70, "10m"), steady(95, "4m"), steady(70, "10m"))),
            at("14m30s"),
        ),
        messy(
            "scraped twice, one of them away for a while; other cards are cool, or say nothing that is a number",
            reading(_CORE, then(steady(91, "20m"), missing("4m"), steady(91, "20m"))),
            reading(_CORE, steady(90, "44m"), job="again"),
            reading(_CORE, steady(60, "44m"), B),
            reading(_CORE, not_a_number("44m"), "GPU-2"),
            reading(_CORE, missing("44m"), "GPU-3"),
            at("10m", gpu()),
            at("40m", gpu()),
        ),
    ),
)
