"""The memory of a GPU is at its highest operating temperature.

## What it means

For five minutes the memory was at or above the temperature at which the card lowers its clocks to save it: the card's
own limit, or 95 °C where it tells none.

## Why it matters

Decoding lives on the bandwidth of memory, so answers slow down, and heat makes errors of memory more frequent. The
temperature of the core does not show it.

## First look

- `max by (node, uuid) (vllmwatch_gpu_memory_temperature_celsius{node="…"})`: one GPU, or all of the node?
- `nvidia-smi -q -d TEMPERATURE,PERFORMANCE -i UUID`: the card's own limit, and whether a thermal slowdown is active.
- `vllmwatch:gpu:thermal_throttle:ratio_rate5m`: for which share of time the clocks are down.

## What to do

1. All GPUs of the node: the room or the fans of the chassis.
2. One GPU: its heat sink or a baffle of the air flow; have it looked at.
3. Until then send it less, or lower its limit of power (`nvidia-smi -i UUID -pl WATTS`).

## When it lies

Where the card tells no limit, 95 °C is that of the HBM of A100 and H100; other memory may be built for more. Many cards
have no such sensor, and are not told of here.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, A, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_MEMORY = "vllmwatch_gpu_memory_temperature_celsius"
_LIMIT = "vllmwatch_gpu_temperature_threshold_celsius"

ALERT = Alert(
    name="GpuMemoryTemperatureHigh",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    expression=f"max by (node, uuid) ({_MEMORY})\n>= on (node, uuid) vllmwatch:gpu:memory_max_celsius:now",
    hold="5m",
    keep_firing="5m",
    causes=("GpuNearSlowdown",),
    summary=f"Memory of {SHORT_UUID} of {{{{ $labels.node }}}} is too hot",
    description=(
        'The memory of {{ $labels.uuid }} has {{ $value | printf "%.0f" }} °C, its highest operating temperature '
        "or more."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "at 95 °C where the card tells no limit",
            reading(_MEMORY, then(steady(80, "10m"), steady(95, "10m"))),
            at("14m"),
            at("16m", gpu()),
        ),
        fires(
            "at the card's own limit",
            reading(_MEMORY, then(steady(84, "10m"), steady(85, "10m"))),
            reading(_LIMIT, steady(85, "20m"), kind="memory_max"),
            at("14m"),
            at("16m", gpu()),
        ),
        quiet(
            "a degree below 95 °C, and above it on a card that is built for more",
            reading(_MEMORY, steady(94, "20m")),
            reading(_MEMORY, steady(104, "20m"), B),
            reading(_LIMIT, steady(105, "20m"), B, kind="memory_max"),
            at("20m"),
        ),
        messy(
            "scraped twice; one card has no such sensor, and one says nothing that is a number",
            reading(_MEMORY, then(steady(97, "10m"), missing("3m"), steady(97, "10m")), A),
            reading(_MEMORY, steady(96, "23m"), A, job="again"),
            reading(_LIMIT, steady(90, "23m"), B, kind="memory_max"),
            reading(_MEMORY, not_a_number("23m"), "GPU-2"),
            at("8m", gpu()),
            at("20m", gpu()),
        ),
    ),
)
