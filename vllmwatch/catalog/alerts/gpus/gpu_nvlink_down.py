"""NVLinks of a GPU that were up are down.

## What it means

For five minutes links have been down that were up within a day. Links that never were up are not wired, and links that
sleep while nothing is sent count as up.

## Why it matters

Tensor parallelism sends over NVLink with every token. With fewer links it is slower; with none NCCL falls back to PCIe,
or does not start. Where a switch lost a link, all GPUs of the node may be cut off from one another.

## First look

- `nvidia-smi nvlink -s -i UUID`: which links are inactive; `nvidia-smi topo -m` names the other end.
- `journalctl -k --since today | grep -E "NVRM: Xid|nvswitch|SXid"`: XID 74 or 145 on both ends, or the switch itself.
- `systemctl status nvidia-fabricmanager` on nodes with NVSwitch: without it no link comes up.

## What to do

1. The fabric manager is down: start it, then restart the servers of the node.
2. Otherwise stop the servers of the node, and reset all of its GPUs (`nvidia-smi --gpu-reset`), or reboot it.
3. The same link is down again: cards with a bridge, reseat it; others, have the board looked at.

## When it lies

A GPU that is cut by MIG has no NVLinks, and is not told of. After a day the links count as never wired, and the alert
ends without anything mended.
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
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_UP = "vllmwatch_gpu_nvlink_up"

ALERT = Alert(
    name="GpuNvlinkDown",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    own_labels=HURT,
    expression=naming_whom("vllmwatch:gpu:nvlinks_down:count"),
    hold="5m",
    keep_firing="5m",
    causes=("GpuLost", "GpuXidCritical"),
    summary=f"NVLinks of {SHORT_UUID} of {{{{ $labels.node }}}} are down",
    description=f"NVLinks of {{{{ $labels.uuid }}}} that were up within a day and are down: {{{{ $value }}}}{WHO}.",
    board=Board.GPU,
    cases=(
        fires(
            "all links of a GPU go down: one alert",
            reading(_UP, then(steady(1, "10m"), steady(0, "20m")), link="0"),
            reading(_UP, then(steady(1, "10m"), steady(0, "20m")), link="1"),
            *known("30m"),
            *carrier("30m"),
            at("14m"),
            at("17m", carrying()),
        ),
        quiet(
            "links that were never up, a reset of three minutes, and a GPU that is cut by MIG",
            reading(_UP, steady(0, "30m"), link="0"),
            reading(_UP, then(steady(1, "10m"), steady(0, "3m"), steady(1, "17m")), B, link="0"),
            reading(_UP, then(steady(1, "10m"), steady(0, "20m")), "GPU-2", link="0"),
            reading("vllmwatch_gpu_mig_mode", then(steady(0, "10m"), steady(1, "20m")), "GPU-2"),
            *known("30m", A, B, "GPU-2"),
            at("12m30s"),
            at("18m"),
            at("30m"),
        ),
        messy(
            "scraped twice, away for a while, carrying nobody; for another exporter the link is up",
            reading(_UP, then(steady(1, "10m"), missing("5m"), steady(0, "20m")), link="0"),
            reading(_UP, then(steady(1, "10m"), missing("5m"), steady(0, "20m")), link="0", job="again"),
            reading(_UP, then(steady(1, "10m"), steady(0, "25m")), B, link="0"),
            reading(_UP, steady(1, "35m"), B, link="0", job="again"),
            *known("35m", A, B),
            at("12m"),
            at("30m", carrying_nobody()),
        ),
    ),
)
