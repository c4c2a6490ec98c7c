"""A GPU is to be emptied of work and reset when it suits: the driver asks for it, or a row of bad memory waits.

## What it means

For a quarter of an hour the driver has asked for a drain (drivers from R565 on tell this): the GPU still works, with
less memory or fewer links than it has when sound, and is to be reset when it is convenient. `replace_row` is what this
alert calls it where the driver asks for nothing and the card says that it replaces a bad row of memory at the next
reset; until then the row stays in use.

## Why it matters

The next fault may end the server. A drain at a time of your choice costs less.

## First look

- `vllmwatch_gpu_recovery_action{node="…"}`: what is asked for, and of how many GPUs of the node.
- `nvidia-smi -q -d ROW_REMAPPER,ECC -i UUID`: a row of memory that waits to be replaced is the usual reason.
- `vllmwatch_gpu_xid_last_timestamp_seconds{uuid="…"}`: the events that led to it.

## What to do

1. In the next window stop the server on this GPU, and all else that uses it.
2. `nvidia-smi --gpu-reset -i UUID` (with NVSwitch all GPUs of the node at once), or reboot the node.
3. `replace_row`: is `vllmwatch_gpu_row_remap_pending` 0 again? If a row waits again within weeks, watch this card.
4. `drain_p2p`: programs that share memory with this GPU over NVLink are to be stopped; a restart of the server does.

## When it lies

The driver tells what it asks for until it is done, also while nobody uses the GPU, and so does the card.
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
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_ASKED = "vllmwatch_gpu_recovery_action"
_PENDING = "vllmwatch_gpu_row_remap_pending"

ALERT = Alert(
    name="GpuDrainNeeded",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    own_labels=(*HURT, "action"),
    expression=naming_whom(
        "(\n"
        'vllmwatch:gpu:recovery_asked:count{action=~"drain_.+"}\nor\n'
        "label_replace(\n"
        "vllmwatch:gpu:row_remap_pending:count unless on (node, uuid) vllmwatch:gpu:recovery_asked:count,\n"
        '"action", "replace_row", "", ""\n'
        ")\n"
        ")",
        "action",
    ),
    hold="15m",
    causes=("GpuLost", "GpuRowRemapFailed", "GpuXidCritical"),
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} is to be drained ({{{{ $labels.action }}}})",
    description=(
        "{{ $labels.uuid }} of {{ $labels.node }} asks for {{ $labels.action }} "
        f"(GPUs of the node that ask for something of the kind: {{{{ $value }}}}){WHO}."
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
        fires(
            "a row of memory waits, by a driver that asks for nothing",
            reading(_PENDING, then(steady(0, "10m"), steady(1, "30m"))),
            *known("40m"),
            *carrier("40m"),
            at("24m"),
            at("27m", carrying(action="replace_row")),
        ),
        quiet(
            "rows were replaced and none waits; one waited for ten minutes until a reset",
            reading(_PENDING, steady(0, "40m")),
            reading("vllmwatch_gpu_remapped_rows", steady(3, "40m"), kind="uncorrected"),
            reading(_PENDING, then(steady(1, "10m"), steady(0, "30m")), B),
            *known("40m", A, B),
            *carrier("40m", A, B),
            at("9m"),
            at("40m"),
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
            reading(_PENDING, steady(1, "43m")),
            reading(_PENDING, then(steady(1, "20m"), missing("3m"), steady(1, "20m")), B),
            reading(_PENDING, steady(1, "43m"), B, job="again"),
            reading(_PENDING, not_a_number("43m"), "GPU-2"),
            *known("43m", A, B, "GPU-2"),
            at("12m"),
            at("40m", carrying_nobody(action="drain_p2p"), carrying_nobody(B, action="replace_row")),
        ),
    ),
)
