"""A GPU raised an XID event that ended a program and left the GPU sound.

## What it means

A program did something that the GPU refused: it read memory that was not its own (31), a kernel failed (13), or an
error of memory was kept within that program (94). The driver ended the program; the next one may start at once.

## Why it matters

If the program was an engine of vLLM's, the server died with it, and `VllmServerDown` or a restart tells of that. This
alert says why, and on which GPU.

## First look

- `journalctl -k --since "1 hour ago" | grep -E "NVRM: Xid"`: the line of the kernel names the process.
- The log of the server at that time (`docker logs` or `journalctl -u UNIT`): "illegal memory access" and its traceback.
- `vllmwatch_gpu_xid_errors_total{xid="31"}`: always the same GPU, or always the same model?

## What to do

1. Always the same model, on several GPUs: a fault of a kernel. Look for the traceback in vLLM's issues; another
   version, or doing without the feature that the traceback names, may help.
2. Always the same GPU, with several models: the card. Test it (`dcgmi diag -r 3` with nothing on it), have it replaced.
3. 94: a reset of the GPU in the next window puts the bad row of memory out of use; see `GpuDrainNeeded`.

## When it lies

Somebody else's program on the same GPU raises them too: the line of the kernel tells whose it was. Whom the GPU carries
is named, not who did it.
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

_LAST = "vllmwatch_gpu_xid_last_timestamp_seconds"

ALERT = Alert(
    name="GpuXidApplication",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    own_labels=(*HURT, "xid"),
    expression=naming_whom("(time() - vllmwatch:gpu:xid_application_timestamp_seconds:last15m)", "xid"),
    hold="1m",
    keep_firing="15m",
    causes=("GpuLost",),
    summary=f"XID {{{{ $labels.xid }}}} ended a program on {SHORT_UUID} of {{{{ $labels.node }}}}",
    description=(
        "{{ $labels.uuid }} of {{ $labels.node }} raised XID {{ $labels.xid }} "
        f"{{{{ $value | humanizeDuration }}}} ago, which ends a program{WHO}."
    ),
    board=Board.GPU,
    cases=(
        fires(
            "a page fault a minute ago, on a GPU that had none before",
            reading(_LAST, then(missing("10m"), steady(600, "50m")), xid="31"),
            *known("1h"),
            *carrier("1h"),
            at("10m"),
            at("12m", carrying(xid="31")),
            at("50m"),
        ),
        quiet(
            "one of yesterday; and events that come when a program is killed, or that ask for more than a restart",
            reading(_LAST, then(missing("24m"), steady(60, "10m")), xid="31"),
            reading(_LAST, then(missing("20m"), steady(1200, "14m")), xid="45"),
            reading(_LAST, then(missing("20m"), steady(1200, "14m")), xid="43"),
            reading(_LAST, then(missing("20m"), steady(1200, "14m")), xid="79"),
            *known("34m"),
            *carrier("34m"),
            at("22m"),
            at("30m"),
        ),
        messy(
            "scraped twice, one event and then another, both told; one GPU carries nobody, one time is no number",
            reading(_LAST, then(missing("5m"), steady(300, "20m")), xid="31"),
            reading(_LAST, then(missing("10m"), steady(600, "15m")), xid="13"),
            reading(_LAST, then(missing("10m"), steady(600, "15m")), xid="13", job="again"),
            reading(_LAST, then(missing("5m"), steady(300, "20m")), B, xid="94"),
            reading(_LAST, not_a_number("25m"), "GPU-2", xid="13"),
            *known("25m", A, B, "GPU-2"),
            *carrier("25m", A),
            at("9m", carrying(xid="31"), carrying_nobody(B, xid="94")),
            at("14m", carrying(xid="13"), carrying(xid="31"), carrying_nobody(B, xid="94")),
        ),
    ),
)
