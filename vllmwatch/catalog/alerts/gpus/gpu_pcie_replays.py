"""The PCIe link of a GPU errs all the time.

## What it means

For half an hour packets were sent again more than twice a minute on each lane. A sound link almost never does;
NVIDIA's own health check warns from half as much on PCIe 4, and from as much on PCIe 5.

## Why it matters

Each is mended by sending again, so nothing is wrong yet. It is a sign of a bad seat, riser or slot: the link may lose
lanes, or the GPU may fall off the bus.

## First look

- `vllmwatch:gpu:pcie_replays_per_lane:rate15m{node="…"} * 60`: one GPU, or all behind one switch?
- `nvidia-smi -q -i UUID | grep -i replay`: the count itself.
- `journalctl -k --since today | grep -iE "AER|pcieport"`: errors of the bus as the kernel sees them.

## What to do

1. In the next window reseat the card, and its riser or cable.
2. It errs again: change riser or slot; lower the generation of the slot in the BIOS by one to see whether it stops.
3. It errs in another slot too: have the card replaced.

## When it lies

A few at the start of a node or after a reset are usual, and are not told of. Cards that do not tell the lanes of their
slot are not told of either.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_REPLAYS = "vllmwatch_gpu_pcie_replays_total"
_LANES = "vllmwatch_gpu_pcie_link_width_max"

ALERT = Alert(
    name="GpuPcieReplays",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    # 1.92 a minute and lane is where DCGM's health check warns on PCIe 5 (DcgmHealthWatch.cpp).
    expression="vllmwatch:gpu:pcie_replays_per_lane:rate15m * 60 > 2",
    hold="15m",
    causes=("GpuPcieNarrow",),
    summary=f"PCIe link of {SHORT_UUID} of {{{{ $labels.node }}}} errs all the time",
    description="{{ $labels.uuid }} sends PCIe packets again {{ $value | humanize }} times a minute on each lane.",
    board=Board.GPU,
    cases=(
        fires(
            "64 a minute on 16 lanes",
            reading(_REPLAYS, then(steady(5, "20m"), rising(64 / 60, "60m", 5))),
            reading(_LANES, steady(16, "80m")),
            at("35m"),
            at("60m", gpu()),
        ),
        quiet(
            "16 a minute on 16 lanes, and many at once after a reset",
            reading(_REPLAYS, rising(16 / 60, "80m")),
            reading(_LANES, steady(16, "80m")),
            reading(_REPLAYS, then(steady(0, "20m"), steady(900, "60m")), B),
            reading(_LANES, steady(16, "80m"), B),
            at("33m"),
            at("60m"),
        ),
        messy(
            "scraped twice, with a count that was set back; one card does not tell its lanes, one lost its count",
            reading(_REPLAYS, then(rising(2, "40m", 9e6), missing("2m"), rising(2, "38m"))),
            reading(_REPLAYS, rising(2, "80m"), job="again"),
            reading(_LANES, steady(16, "80m")),
            reading(_REPLAYS, rising(9, "80m"), B),
            reading(_REPLAYS, then(steady(9e6, "40m"), steady(0, "40m")), "GPU-2"),
            reading(_LANES, steady(16, "80m"), "GPU-2"),
            at("35m", gpu()),
            at("50m", gpu()),
        ),
    ),
)
