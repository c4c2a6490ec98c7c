"""A GPU is about to halve its clocks for heat.

## What it means

For two minutes the GPU was within 2 °C of the temperature at which the card itself cuts its clocks to a half or less,
by its own word: an absolute temperature, or on newer cards a margin. A few degrees above, it turns itself off.

## Why it matters

The server on it, and with tensor parallelism all GPUs of its group, run at the pace of this one: answers take twice as
long or more within minutes. If the card turns itself off the server dies.

## First look

- `vllmwatch:gpu:slowdown_margin_celsius:now{node="…"}`: one GPU or all of the node, and does it still sink?
- `nvidia-smi -q -d TEMPERATURE,PERFORMANCE -i UUID`: the card's limits, and what holds the clocks down already.
- The fans and the temperature at the inlet, as the BMC shows them (`ipmitool sdr`).

## What to do

1. Take load away now: send requests to other servers of the model, or stop this one.
2. Lower the limit of power (`nvidia-smi -i UUID -pl WATTS`), which acts at once.
3. Then mend the cooling: room, fans, dust, heat sink. Do not give the load back before the margin is large again.

## When it lies

A card that tells neither temperature nor margin is never told of here; `GpuTemperatureHigh` still watches it. Some
cards tell the same margin always; one that did not move for six hours is not believed.
"""

from vllmwatch.catalog.alerts.gpus._words import (
    HURT,
    SHORT_UUID,
    WHO,
    A,
    B,
    carrier,
    carrying,
    carrying_nobody,
    known,
    naming_whom,
    reading,
)
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, not_a_number, quiet, steady, then

_CORE = "vllmwatch_gpu_temperature_celsius"
_LIMIT = "vllmwatch_gpu_temperature_threshold_celsius"
_MARGIN = "vllmwatch_gpu_temperature_margin_celsius"
_MARGIN_LIMIT = "vllmwatch_gpu_temperature_margin_threshold_celsius"

ALERT = Alert(
    name="GpuNearSlowdown",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.PAGE,
    own_labels=HURT,
    expression=naming_whom("(vllmwatch:gpu:slowdown_margin_celsius:now <= 2)"),
    hold="2m",
    keep_firing="5m",
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} is about to halve its clocks for heat",
    description=(
        '{{ $labels.uuid }} is {{ $value | printf "%.0f" }} °C below the temperature at which it halves its '
        f"clocks{WHO}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "two degrees below the slowdown of a card that tells a temperature",
            reading(_CORE, then(steady(80, "10m"), steady(87, "10m"))),
            reading(_LIMIT, steady(89, "20m"), kind="slowdown"),
            *known("20m"),
            *carrier("20m"),
            at("11m30s"),
            at("13m", carrying()),
        ),
        fires(
            "at the limit of a card that tells margins, and carries nobody",
            reading(_MARGIN, then(steady(20, "10m"), steady(0, "10m"))),
            reading(_MARGIN_LIMIT, steady(-2, "20m"), kind="slowdown"),
            *known("20m"),
            at("11m30s"),
            at("13m", carrying_nobody()),
        ),
        quiet(
            "three degrees below, also by its margin, and near its highest operating temperature",
            reading(_CORE, steady(86, "20m")),
            reading(_LIMIT, steady(89, "20m"), kind="slowdown"),
            reading(_LIMIT, steady(87, "20m"), kind="gpu_max"),
            reading(_MARGIN, then(steady(20, "5m"), steady(1, "15m")), B),
            reading(_MARGIN_LIMIT, steady(-2, "20m"), B, kind="slowdown"),
            *known("20m", A, B),
            at("20m"),
        ),
        messy(
            "scraped twice; one margin never moves, one is not a number, and one card tells no limit",
            reading(_CORE, steady(88, "20m")),
            reading(_CORE, steady(84, "20m"), job="again"),
            reading(_LIMIT, steady(89, "20m"), kind="slowdown"),
            reading(_MARGIN, steady(0, "20m"), B),
            reading(_MARGIN_LIMIT, steady(-2, "20m"), B, kind="slowdown"),
            reading(_MARGIN, not_a_number("20m"), "GPU-2"),
            reading(_MARGIN_LIMIT, steady(-2, "20m"), "GPU-2", kind="slowdown"),
            reading(_CORE, steady(99, "20m"), "GPU-3"),
            *known("20m", A, B, "GPU-2", "GPU-3"),
            *carrier("20m", A),
            at("10m", carrying()),
        ),
    ),
)
