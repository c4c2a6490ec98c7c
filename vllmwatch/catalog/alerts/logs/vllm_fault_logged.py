"""The log of a vLLM server tells of a fault of GPUs, of what joins them, or of what the server runs on.

## What it means

The label `event` says which: `cuda_error` (a program on a GPU failed), `nccl_error` and `collective_timeout` (GPUs
could not talk to each other, or waited in vain), `worker_died`, `disk_full`, `too_many_open_files`.

## Why it matters

Such a fault mostly ends the engine, and the server with it. That users get errors is told by other alerts; this one
says where to look, also where the server came back by itself and hid the fault.

## First look

- `vllmwatch logs parse --events FILE`, or the links to its logs: the first event, and its traceback.
- `journalctl -k --since "1 hour ago" | grep -E "NVRM|oom"`: did the driver or the kernel say something at that time?
- The board of the GPU: XID events, NVLink, temperature of the GPUs that carry it.

## What to do

1. `cuda_error`: with an XID, see its alert; without one, the same request each time is a fault of a kernel of vLLM's.
2. `nccl_error`, `collective_timeout`: find the rank that is missing or slow; `NCCL_DEBUG=INFO` at the next start.
3. `worker_died`: an exit code of -9 is the kernel's out-of-memory killer, -6 and -11 are faults of a program.
4. `disk_full`: the disk of models and of the compile cache, or /dev/shm of the container.
5. `too_many_open_files`: raise the limit of the unit or the container.

## When it lies

`worker_died` comes too when somebody ends a worker by hand.
"""

from vllmwatch.catalog.alerts.logs._words import DESCRIPTION, logged, raised, told
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_EVENTS = ("cuda_error", "nccl_error", "collective_timeout", "worker_died", "disk_full", "too_many_open_files")

ALERT = Alert(
    name="VllmFaultLogged",
    theme="logs",
    subject=Subject.LOG,
    severity=Severity.TICKET,
    expression=raised(*_EVENTS),
    events=_EVENTS,
    hold="0s",
    summary="The log of {{ $labels.server }} tells of {{ $labels.event }}",
    description=DESCRIPTION,
    board=Board.LOGS,
    causes=("GpuLost", "GpuXidCritical"),
    cases=(
        fires(
            "an illegal access to memory",
            logged("cuda_error", then(steady(0, "20m"), steady(2, "40m"))),
            at("19m"),
            at("21m", told("cuda_error")),
            at("35m"),
        ),
        quiet(
            "an engine that ends when its server is stopped, and one that waits for its workers",
            logged("engine_dead", then(steady(0, "20m"), steady(2, "40m"))),
            logged("engine_waits", then(steady(0, "20m"), steady(2, "40m"))),
            logged("nccl_error", steady(9, "1h")),
            at("10m"),
            at("25m"),
        ),
        messy(
            "scraped twice, two servers, the exporter away in between",
            logged("worker_died", then(steady(1, "20m"), missing("4m"), steady(2, "36m"))),
            logged("worker_died", then(steady(1, "20m"), missing("4m"), steady(2, "36m")), job="again"),
            logged("worker_died", then(steady(5, "20m"), missing("4m"), steady(5, "36m")), "box:8001"),
            at("19m"),
            at("26m", told("worker_died")),
            at("45m"),
        ),
    ),
)
