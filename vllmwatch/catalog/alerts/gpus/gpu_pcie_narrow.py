"""A GPU uses fewer PCIe lanes than its slot has.

## What it means

For a quarter of an hour the link ran with fewer lanes than card and slot could, while the GPU was in use. The
generation, which falls while a GPU idles, does not count.

## Why it matters

Weights load slower, so do KV transfers and offloading to the host; without NVLink tensor parallelism is slower with
every token. It is a sign of a bad seat, riser or slot, which may drop the GPU altogether.

## First look

- `nvidia-smi --query-gpu=uuid,pcie.link.width.current,pcie.link.width.max --format=csv` on the node.
- `lspci -vv -s ADDRESS | grep -E "LnkCap|LnkSta"`: the same from the kernel; "downgraded" names it.
- `rate(vllmwatch_gpu_pcie_replays_total{uuid="…"}[15m])`: does the link err as well?

## What to do

1. Reboot the node in the next window: the link is trained anew.
2. It is narrow again: reseat the card, change riser or slot, look at the slot's settings in the BIOS.
3. It is narrow in another slot too: have the card replaced.

## When it lies

Some cards drop lanes to save power; that happens while they idle, which is not told of. Cut by MIG, a GPU does not say
how busy it is, and is judged always.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_WIDTH = "vllmwatch_gpu_pcie_link_width"
_MOST = "vllmwatch_gpu_pcie_link_width_max"
_BUSY = "vllmwatch_gpu_utilization_ratio"

ALERT = Alert(
    name="GpuPcieNarrow",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    expression=(
        f"max by (node, uuid) ({_WIDTH})\n< on (node, uuid) max by (node, uuid) ({_MOST})\n"
        "unless on (node, uuid) vllmwatch:gpu:utilization_ratio:avg15m < 0.2"
    ),
    hold="15m",
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} lacks PCIe lanes",
    description="{{ $labels.uuid }} uses {{ $value }} PCIe lanes; its slot has more.",
    board=Board.GPU,
    cases=(
        fires(
            "half of the lanes, while it is in use",
            reading(_WIDTH, then(steady(16, "10m"), steady(8, "30m"))),
            reading(_MOST, steady(16, "40m")),
            reading(_BUSY, steady(0.5, "40m")),
            at("24m"),
            at("27m", gpu()),
        ),
        quiet(
            "all that the slot has, or fewer while it idles",
            reading(_WIDTH, steady(8, "40m")),
            reading(_MOST, steady(8, "40m")),
            reading(_BUSY, steady(1, "40m")),
            reading(_WIDTH, steady(4, "40m"), B),
            reading(_MOST, steady(16, "40m"), B),
            reading(_BUSY, steady(0.1, "40m"), B),
            at("40m"),
        ),
        messy(
            "scraped twice, away for a while, cut by MIG; another card says nothing that is a number, or no maximum",
            reading(_WIDTH, then(steady(8, "20m"), missing("4m"), steady(8, "20m"))),
            reading(_WIDTH, steady(8, "44m"), job="again"),
            reading(_MOST, steady(16, "44m")),
            reading(_WIDTH, not_a_number("44m"), B),
            reading(_MOST, steady(16, "44m"), B),
            reading(_WIDTH, steady(8, "44m"), "GPU-2"),
            at("40m", gpu()),
        ),
    ),
)
