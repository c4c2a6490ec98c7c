"""A GPU met an error of memory that ECC could not mend.

## What it means

Within the last quarter of an hour the count of uncorrected errors rose. Data was lost: the driver ended the program
that had it, or stopped the GPU, so that nothing wrong was answered.

## Why it matters

The server on this GPU has died, or hangs. Until the GPU is reset the bad row stays in use, and the next server may meet
it again.

## First look

- `nvidia-smi -q -d ECC,ROW_REMAPPER -i UUID`: which kind of memory, and whether a row waits to be replaced.
- `journalctl -k --since "1 hour ago" | grep -E "NVRM: Xid"`: 94 is kept within one program; 48 and 95 ask for a reset.
- The log of the server (`docker logs` or `journalctl -u UNIT`): did the engine die?

## What to do

1. Stop the server on this GPU, and all else that uses it; send requests to others.
2. `nvidia-smi --gpu-reset -i UUID` (with NVSwitch all GPUs of the node at once) replaces the bad row.
3. Start the server again. `GpuRowRemapFailed`, or another such error within weeks: have the card replaced.

## When it lies

Errors that were there before anybody watched are not told of; `nvidia-smi -q -d ECC` shows them. A reset or a reload of
the driver sets the count back, which is no error.
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
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, rising, steady, then

_ERRORS = "vllmwatch_gpu_ecc_errors_total"
_KIND = {"kind": "uncorrected", "lifetime": "volatile"}

ALERT = Alert(
    name="GpuEccUncorrected",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.PAGE,
    own_labels=HURT,
    expression=naming_whom("(vllmwatch:gpu:uncorrected_ecc_errors:increase15m > 0)"),
    hold="1m",
    keep_firing="15m",
    causes=("GpuLost", "GpuXidCritical"),
    summary=f"Memory error that ECC could not mend on {SHORT_UUID} of {{{{ $labels.node }}}}",
    description=f"Uncorrected errors of memory of {{{{ $labels.uuid }}}} within 15 minutes: {{{{ $value }}}}{WHO}.",
    board=Board.GPU,
    cases=(
        fires(
            "one error, on a GPU that had some before",
            reading(_ERRORS, then(steady(2, "20m"), steady(3, "40m")), **_KIND),
            *known("1h"),
            *carrier("1h"),
            at("20m"),
            at("22m", carrying()),
            at("55m"),
        ),
        quiet(
            "old errors, corrected ones, and those of the card's life",
            reading(_ERRORS, steady(7, "40m"), **_KIND),
            reading(_ERRORS, rising(0.1, "40m"), kind="corrected", lifetime="volatile"),
            reading(_ERRORS, rising(0.1, "40m"), kind="uncorrected", lifetime="aggregate"),
            *known("40m"),
            at("2m"),
            at("40m"),
        ),
        messy(
            "scraped twice; one carries nobody; a reset sets a count back, and another count is no number",
            reading(_ERRORS, then(steady(0, "20m"), missing("3m"), steady(1, "17m")), **_KIND),
            reading(_ERRORS, then(steady(0, "20m"), steady(1, "20m")), job="again", **_KIND),
            reading(_ERRORS, then(steady(5, "20m"), missing("2m"), steady(0, "18m")), B, **_KIND),
            reading(_ERRORS, not_a_number("40m"), "GPU-2", **_KIND),
            *known("40m", A, B, "GPU-2"),
            *carrier("40m", B),
            at("19m"),
            at("25m", carrying_nobody()),
        ),
    ),
)
