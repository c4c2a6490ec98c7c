"""Heat holds the clocks of a GPU down.

## What it means

For five minutes heat lowered the clocks for more than a tenth of the time: the core or the memory was above its highest
operating temperature (software slowdown), or so hot that the hardware halved the clocks (hardware slowdown).

## Why it matters

The GPU is slower than it was bought for, and with tensor parallelism all GPUs of its group wait for it.

## First look

- `rate(vllmwatch_gpu_throttle_seconds_total{uuid="…"}[5m])`: by which reason, and for which share of the time.
- `nvidia-smi -q -d PERFORMANCE,TEMPERATURE -i UUID`: the reasons that are active now, and core and memory.
- `vllmwatch:engine_gpu:sm_clock:ratio_avg5m`: how far it lags behind the others of its engine.

## What to do

1. All GPUs of the node: the room or the fans of the chassis.
2. One GPU: dust, heat sink, its place in the air flow. Move its load away where you can, and have it looked at.
3. A limit of power that the cooling can bear (`nvidia-smi -i UUID -pl WATTS`) costs less speed than heat does.

## When it lies

Where the driver has no counter of the time, samples of the state stand for it, which may miss short slowdowns. The
limit of power (`software_power_cap`) is no fault, and does not count.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, A, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_SECONDS = "vllmwatch_gpu_throttle_seconds_total"
_ACTIVE = "vllmwatch_gpu_throttle_active"

ALERT = Alert(
    name="GpuThermalThrottle",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    expression="vllmwatch:gpu:thermal_throttle:ratio_rate5m > 0.1",
    hold="5m",
    keep_firing="10m",
    causes=("GpuNearSlowdown",),
    summary=f"Heat slows {SHORT_UUID} of {{{{ $labels.node }}}} down",
    description="Heat held the clocks of {{ $labels.uuid }} down {{ $value | humanizePercentage }} of the time.",
    board=Board.GPU,
    cases=(
        fires(
            "a fifth of the time, by the counter",
            reading(_SECONDS, then(steady(100, "10m"), rising(0.2, "20m", 100)), reason="software_thermal_slowdown"),
            at("12m"),
            at("20m", gpu()),
        ),
        fires(
            "always, on a card that has no counter",
            reading(_ACTIVE, then(steady(0, "10m"), steady(1, "20m")), reason="hardware_thermal_slowdown"),
            at("13m"),
            at("20m", gpu()),
        ),
        quiet(
            "a twelfth of the time, and most of it by the limit of power",
            reading(_SECONDS, rising(0.08, "30m"), reason="hardware_thermal_slowdown"),
            reading(_SECONDS, rising(0.9, "30m"), reason="software_power_cap"),
            reading(_ACTIVE, steady(1, "30m"), reason="software_power_cap"),
            at("30m"),
        ),
        quiet(
            "for a minute",
            reading(
                _SECONDS,
                then(steady(0, "10m"), rising(1, "1m"), steady(56, "20m")),
                reason="hardware_thermal_slowdown",
            ),
            at("12m"),
            at("18m"),
        ),
        messy(
            "scraped twice, after a reload of the driver that sets the counter back; another card is cool",
            reading(
                _SECONDS,
                then(rising(0.5, "20m", 9e6), missing("2m"), rising(0.5, "20m")),
                reason="hardware_thermal_slowdown",
            ),
            reading(_SECONDS, rising(0.5, "42m"), reason="hardware_thermal_slowdown", job="again"),
            reading(_SECONDS, then(steady(9e6, "20m"), steady(0, "20m")), B, reason="hardware_thermal_slowdown"),
            reading(_ACTIVE, steady(0, "40m"), "GPU-2", reason="hardware_thermal_slowdown"),
            at("15m", gpu(A)),
            at("25m", gpu(A)),
            at("40m", gpu(A)),
        ),
    ),
)
