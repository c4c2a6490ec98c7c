"""A GPU could not replace a bad row of memory.

## What it means

The card takes bad rows of its memory out of use and puts spare ones in their place. It says that this failed: the spare
rows of that bank are used up.

## Why it matters

The bad row stays in use, so the next uncorrected error is a matter of time, and ends the server each time. By NVIDIA's
word such a card is to be replaced.

## First look

- `nvidia-smi -q -d ROW_REMAPPER,ECC -i UUID`: "Remapping Failure Occurred: Yes", and how many rows were replaced.
- `vllmwatch_gpu_remapped_rows{uuid="…"}` over the last months: did it grow?
- `nvidia-smi -q -i UUID | grep -i serial`: what whoever replaces it asks for.

## What to do

1. Take the server off this GPU today: start it on others, and give this one no more work.
2. Run `nvidia-bug-report.sh` on the node, and have the card replaced.
3. Until it is out, set a silence for this `uuid`: the card says so until then.

## When it lies

The card says so for the rest of its life, also while nobody uses it.
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

_FAILED = "vllmwatch_gpu_row_remap_failure"

ALERT = Alert(
    name="GpuRowRemapFailed",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.PAGE,
    own_labels=HURT,
    expression=naming_whom("vllmwatch:gpu:row_remap_failed:count"),
    hold="1m",
    keep_firing="5m",
    causes=("GpuLost", "GpuXidCritical"),
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} has no spare memory left for a bad row",
    description=(
        "{{ $labels.uuid }} of {{ $labels.node }} could not replace a bad row of memory; "
        f"such GPUs of the node: {{{{ $value }}}}{WHO}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "a row could not be replaced",
            reading(_FAILED, then(steady(0, "10m"), steady(1, "10m"))),
            *known("20m"),
            *carrier("20m"),
            at("10m30s"),
            at("12m", carrying()),
        ),
        quiet(
            "rows were replaced, or wait to be",
            reading(_FAILED, steady(0, "20m")),
            reading("vllmwatch_gpu_remapped_rows", steady(12, "20m"), kind="uncorrected"),
            reading("vllmwatch_gpu_row_remap_pending", steady(1, "20m")),
            *known("20m"),
            at("20m"),
        ),
        messy(
            "scraped twice, away for a while, carrying nobody; another card says nothing that is a number",
            reading(_FAILED, then(steady(1, "10m"), missing("6m"), steady(1, "10m"))),
            reading(_FAILED, steady(1, "26m"), job="again"),
            reading(_FAILED, not_a_number("26m"), B),
            *known("26m", A, B),
            at("5m", carrying_nobody()),
            at("25m", carrying_nobody()),
        ),
    ),
)
