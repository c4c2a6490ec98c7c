"""The power brake holds the GPUs of a node down.

## What it means

For two minutes the chassis or the rack told GPUs, over a wire of its own, to draw less at once: a power supply failed,
a feed was lost, or a limit of the rack was passed. The GPUs then run at a fraction of their clocks.

## Why it matters

All servers on these GPUs are several times slower until power is back.

## First look

- `vllmwatch:gpu:power_brake:ratio_rate5m{node="…"}`: which GPUs, and for which share of the time.
- `nvidia-smi -q -d PERFORMANCE`: "HW Power Brake Slowdown: Active" on the node.
- `ipmitool sel list` on the node, or the log of its BMC: power supplies, feeds, limits.

## What to do

1. Call whoever runs the room: a supply or a feed is out. Ask whether other nodes of the rack are held down too.
2. Send requests to servers on other nodes until it is mended.
3. One GPU alone is held down while the supplies are sound: the wire or the board; have the card replaced.

## When it lies

Where the driver has no counter of the time, samples of the state stand for it. A limit of power that was set by hand is
no brake, and does not count.
"""

from vllmwatch.catalog.alerts.gpus._words import A, B, reading
from vllmwatch.catalog.recordings.stories.words import NODE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, rising, steady, then

_SECONDS = "vllmwatch_gpu_throttle_seconds_total"
_ACTIVE = "vllmwatch_gpu_throttle_active"
_BRAKE = "hardware_power_brake"

ALERT = Alert(
    name="GpuPowerBrake",
    theme="gpus",
    subject=Subject.NODE,
    severity=Severity.PAGE,
    expression="count by (node) (vllmwatch:gpu:power_brake:ratio_rate5m > 0.1)",
    hold="2m",
    keep_firing="5m",
    summary="The power brake slows the GPUs of {{ $labels.node }} down",
    description="{{ $labels.node }} lacks power; GPUs that the power brake holds down: {{ $value }}.",
    board=Board.GPU,
    cases=(
        fires(
            "both GPUs are held down: one alert of the node",
            reading(_SECONDS, then(steady(0, "10m"), rising(0.25, "10m")), A, reason=_BRAKE),
            reading(_SECONDS, then(steady(0, "10m"), rising(0.2, "10m")), B, reason=_BRAKE),
            at("11m30s"),
            at("15m", {"node": NODE}),
        ),
        quiet(
            "a twelfth of the time, and the limit of power always",
            reading(_SECONDS, rising(0.08, "30m"), reason=_BRAKE),
            reading(_SECONDS, rising(1, "30m"), reason="software_power_cap"),
            at("30m"),
        ),
        fires(
            "always, on a card that has no counter",
            reading(_ACTIVE, then(steady(0, "10m"), steady(1, "10m")), reason=_BRAKE),
            at("11m30s"),
            at("15m", {"node": NODE}),
        ),
        messy(
            "scraped twice, with a counter that was set back; on another node a counter stands still",
            reading(_SECONDS, then(rising(1, "20m", 5e6), rising(1, "20m")), reason=_BRAKE),
            reading(_SECONDS, rising(1, "40m"), reason=_BRAKE, job="again"),
            reading(_SECONDS, then(steady(9e6, "20m"), steady(0, "20m")), node="other", reason=_BRAKE),
            at("15m", {"node": NODE}),
            at("22m", {"node": NODE}),
        ),
    ),
)
