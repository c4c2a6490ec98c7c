"""The driver asks that a GPU be emptied of work, to be reset.

## What it means

For a quarter of an hour the driver has asked for a drain: the GPU still works, with less memory or fewer links than it
has when sound, and is to be reset when it is convenient. Drivers from R565 on tell this.

## Why it matters

The next fault may end the server. A drain at a time of your choice costs less.

## First look

- `vllmwatch_gpu_recovery_action{node="…"}`: what is asked for, and of how many GPUs of the node.
- `nvidia-smi -q -d ROW_REMAPPER,ECC -i UUID`: a row of memory that waits to be replaced is the usual reason.
- `vllmwatch_gpu_xid_last_timestamp_seconds{uuid="…"}`: the events that led to it.

## What to do

1. In the next window stop the server on this GPU, and all else that uses it.
2. `nvidia-smi --gpu-reset -i UUID` (with NVSwitch all GPUs of the node at once), or reboot the node.
3. `drain_p2p`: programs that share memory with this GPU over NVLink are to be stopped; a restart of the server does.

## When it lies

The driver tells what it asks for until it is done, also while nobody uses the GPU.
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
    name="GpuDrainNeeded",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    own_labels=(*HURT, "action"),
    expression=naming_whom('vllmwatch:gpu:recovery_asked:count{action=~"drain_.+"}', "action"),
    hold="15m",
    causes=("GpuLost", "GpuXidCritical"),
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} is to be drained ({{{{ $labels.action }}}})",
    description=(
        "The driver asks for {{ $labels.action }} of {{ $labels.uuid }} of {{ $labels.node }} "
        f"(GPUs of the node for which it asks for something: {{{{ $value }}}}){WHO}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "a drain is asked for",
            reading(_ASKED, then(steady(1, "10m"), "stale"), action="none"),
            reading(_ASKED, then(missing("10m"), steady(1, "30m")), action="drain_and_reset"),
            *known("40m"),
            *carrier("40m"),
            at("24m"),
            at("27m", carrying(action="drain_and_reset")),
        ),
        quiet(
            "nothing is asked for, or what cannot wait",
            reading(_ASKED, steady(1, "40m"), action="none"),
            reading(_ASKED, steady(1, "40m"), B, action="gpu_reset"),
            *known("40m", A, B),
            *carrier("40m", A, B),
            at("40m"),
        ),
        messy(
            "scraped twice, away for a while; the GPU carries nobody",
            reading(_ASKED, then(steady(1, "20m"), missing("3m"), steady(1, "20m")), action="drain_p2p"),
            reading(_ASKED, steady(1, "43m"), action="drain_p2p", job="again"),
            *known("43m"),
            at("12m"),
            at("40m", carrying_nobody(action="drain_p2p")),
        ),
    ),
)
