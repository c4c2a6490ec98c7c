"""The driver asks for a reset or a reboot to make a GPU work again.

## What it means

For two minutes the driver itself has said that the GPU cannot go on: it asks for a reset of the GPU, of the bus, of the
NVLink domain, or for a reboot. Drivers from R565 on tell this; it is better than any list of events.

## Why it matters

The server on this GPU is dead or about to be, and does not start on it again.

## First look

- `vllmwatch_gpu_recovery_action{node="…"}`: what is asked for, and of how many GPUs of the node.
- `nvidia-smi -q -i UUID | grep -i -A2 recovery`: the same from the driver.
- `journalctl -k --since "1 hour ago" | grep -E "NVRM: Xid"`: what led to it.

## What to do

1. Stop the server on this GPU, and all else that uses it.
2. `gpu_reset`, `bus_reset`: `nvidia-smi --gpu-reset -i UUID` (with NVSwitch all GPUs of the node at once).
   `node_reboot`, `system_reboot`: reboot the node. `recover_imex_domain`: restart the IMEX service on its nodes.
3. Start the server again. The same GPU asks again within days: have it replaced.

## When it lies

The driver tells what it asks for until it is done, also while nobody uses the GPU. While a reset is under way the GPU
is away for some seconds.
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

_ASKED = "vllmwatch_gpu_recovery_action"

ALERT = Alert(
    name="GpuRecoveryNeeded",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.PAGE,
    own_labels=(*HURT, "action"),
    expression=naming_whom('vllmwatch:gpu:recovery_asked:count{action!~"drain_.+"}', "action"),
    hold="2m",
    causes=("GpuLost", "GpuXidCritical"),
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} needs {{{{ $labels.action }}}}",
    description=(
        "The driver asks for {{ $labels.action }} of {{ $labels.uuid }} of {{ $labels.node }} "
        f"(GPUs of the node for which it asks for something: {{{{ $value }}}}){WHO}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "a reset is asked for",
            reading(_ASKED, then(steady(1, "10m"), "stale"), action="none"),
            reading(_ASKED, then(missing("10m"), steady(1, "10m")), action="gpu_reset"),
            *known("20m"),
            *carrier("20m"),
            at("11m"),
            at("13m", carrying(action="gpu_reset")),
        ),
        quiet(
            "nothing is asked for, or that the GPU be emptied some day",
            reading(_ASKED, steady(1, "20m"), action="none"),
            reading(_ASKED, steady(1, "20m"), B, action="drain_and_reset"),
            reading(_ASKED, then(missing("10m"), steady(1, "1m"), "stale"), "GPU-2", action="gpu_reset"),
            *known("20m", A, B, "GPU-2"),
            *carrier("20m", A, B),
            at("11m15s"),
            at("20m"),
        ),
        messy(
            "scraped twice, by exporters that disagree for a while; the GPU carries nobody",
            reading(_ASKED, steady(1, "20m"), action="node_reboot"),
            reading(_ASKED, then(missing("5m"), steady(1, "10m"), "stale"), action="gpu_reset", job="again"),
            *known("20m"),
            at("4m", carrying_nobody(action="node_reboot")),
            at("19m", carrying_nobody(action="node_reboot")),
        ),
    ),
)
