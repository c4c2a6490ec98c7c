"""A GPU waits for a reset to replace a bad row of memory.

## What it means

For a quarter of an hour the card has said that a bad row was found, and that it replaces it at the next reset.

## Why it matters

Until then the row stays in use. It is harmless on most days; a reset at a time of your choice is cheaper than the next
uncorrected error.

## First look

- `nvidia-smi -q -d ROW_REMAPPER,ECC -i UUID`: "Pending: Yes", and how many rows were replaced before.
- `vllmwatch:gpu:info:last1h{uuid="…"}`: which server is on it.

## What to do

1. In the next window stop the server on this GPU, and all else that uses it.
2. `nvidia-smi --gpu-reset -i UUID` (with NVSwitch all GPUs of the node at once), or reboot the node.
3. `vllmwatch_gpu_row_remap_pending` is 0 again? Start the server. If it waits again within weeks, watch this card.

## When it lies

The card says so until it is reset, also while nobody uses it.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_PENDING = "vllmwatch_gpu_row_remap_pending"

ALERT = Alert(
    name="GpuRowRemapPending",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    expression="vllmwatch:gpu:row_remap_pending:count",
    hold="15m",
    causes=("GpuRowRemapFailed", "GpuRecoveryNeeded", "GpuDrainNeeded"),
    summary=f"{SHORT_UUID} of {{{{ $labels.node }}}} waits for a reset to replace bad memory",
    description=(
        "{{ $labels.uuid }} of {{ $labels.node }} waits for a reset to replace a bad row of memory; "
        "such GPUs of the node: {{ $value }}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "for a quarter of an hour",
            reading(_PENDING, then(steady(0, "10m"), steady(1, "30m"))),
            at("24m"),
            at("27m", gpu()),
        ),
        quiet(
            "rows were replaced and none waits; one waited for ten minutes until a reset",
            reading(_PENDING, steady(0, "40m")),
            reading("vllmwatch_gpu_remapped_rows", steady(3, "40m"), kind="uncorrected"),
            reading(_PENDING, then(steady(1, "10m"), steady(0, "30m")), B),
            at("9m"),
            at("40m"),
        ),
        messy(
            "scraped twice, away for a while; another card says nothing that is a number",
            reading(_PENDING, then(steady(1, "20m"), missing("4m"), steady(1, "10m"))),
            reading(_PENDING, steady(1, "34m"), job="again"),
            reading(_PENDING, not_a_number("34m"), B),
            at("30m", gpu()),
        ),
    ),
)
