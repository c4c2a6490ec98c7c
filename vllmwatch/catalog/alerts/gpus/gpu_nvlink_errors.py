"""The NVLinks of a GPU err.

## What it means

Within an hour links of the GPU sent data again, or had to be trained again, more than three times in all. Checksums
alone do not count: a sound link has wrong ones now and then.

## Why it matters

Each time the link stands still, and tensor parallelism with it. It comes before a link that is down, or XID 74.

## First look

- `increase(vllmwatch_gpu_nvlink_errors_total{uuid="…"}[1h])`: which links, and which kind.
- `nvidia-smi nvlink -e -i UUID`: the counts themselves; `nvidia-smi topo -m` names the other end.
- `journalctl -k --since today | grep -E "NVRM: Xid|SXid"`: what driver and switch say.

## What to do

1. One link, both ends err: in the next window reset both GPUs, or reboot the node.
2. It errs again: cards with a bridge, reseat it or change it; others, have the board looked at.
3. Many links of the node: the switch or its cooling.

## When it lies

Links are trained again after a reset or a restart of the fabric manager, which may count as errors once.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, rising, steady, then

_ERRORS = "vllmwatch_gpu_nvlink_errors_total"

ALERT = Alert(
    name="GpuNvlinkErrors",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    expression="vllmwatch:gpu:nvlink_errors:increase1h > 3",
    hold="5m",
    causes=("GpuLost", "GpuXidCritical", "GpuNvlinkDown"),
    summary=f"NVLinks of {SHORT_UUID} of {{{{ $labels.node }}}} err",
    description=(
        "NVLinks of {{ $labels.uuid }} sent again or were trained again "
        '{{ $value | printf "%.0f" }} times within an hour.'
    ),
    board=Board.GPU,
    cases=(
        fires(
            "three of one link and two of another",
            reading(_ERRORS, then(steady(9, "70m"), steady(12, "70m")), link="0", kind="replay"),
            reading(_ERRORS, then(steady(0, "70m"), steady(2, "70m")), link="1", kind="recovery"),
            at("74m"),
            at("80m", gpu()),
            at("139m"),
        ),
        quiet(
            "two within an hour, and any number of wrong checksums",
            reading(_ERRORS, then(steady(9, "70m"), steady(11, "70m")), link="0", kind="recovery"),
            reading(_ERRORS, rising(2, "140m"), link="0", kind="crc"),
            at("80m"),
            at("140m"),
        ),
        messy(
            "scraped twice, away for a while; a count of another card is set back, and one is no number",
            reading(_ERRORS, then(steady(0, "70m"), missing("3m"), steady(8, "40m")), link="0", kind="replay"),
            reading(_ERRORS, then(steady(0, "73m"), steady(8, "40m")), link="0", kind="replay", job="again"),
            reading(_ERRORS, then(steady(0, "73m"), steady(2, "40m")), B, link="0", kind="replay"),
            reading(_ERRORS, then(steady(0, "73m"), steady(2, "40m")), B, link="0", kind="replay", job="again"),
            reading(_ERRORS, then(steady(90, "70m"), steady(0, "43m")), "GPU-2", link="0", kind="replay"),
            reading(_ERRORS, not_a_number("113m"), "GPU-3", link="0", kind="replay"),
            at("90m", gpu()),
        ),
    ),
)
