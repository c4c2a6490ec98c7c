"""A vLLM server ran out of memory, that of a GPU or that of the host.

## What it means

The log says that memory could not be had: `cuda_out_of_memory` for a GPU's, `host_out_of_memory` for the host's. The
engine that met it dies with every request that it held, and the server with it.

## Why it matters

The supervisor starts it again, and the same load will end it again. That it is down is told by `VllmServerDown`, that
it comes and goes by `VllmCrashLooping`; this alert says why.

## First look

- `vllmwatch logs parse --events FILE`, or the links to its logs: what was asked for, and who else held memory?
- `vllmwatch_gpu_memory_used_bytes` and the board of the GPU: memory held by others, or by processes that are dead?
- `journalctl -k | grep -i "out of memory"`, and `docker inspect --format '{{.State.OOMKilled}}' NAME` for the host's.

## What to do

1. While it runs: lower `--max-num-seqs` or `--max-num-batched-tokens`, then `--gpu-memory-utilization` by 0.02 to 0.05.
2. At the start: free the GPU of others (`GpuMemoryHeldByDead`), or lower `--max-model-len`.
3. Fragments ("reserved but unallocated"): `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.
4. The host's: a larger limit for the container, less offload to the CPU, a larger `--shm-size`.

Whoever wants to be woken sets `severities: {VllmOutOfMemory: page}`.

## When it lies

Somebody tries how much fits. An exception that a program caught and that did no harm may be logged too.
"""

from vllmwatch.catalog.alerts.logs._words import DESCRIPTION, logged, raised, told
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_EVENTS = ("cuda_out_of_memory", "host_out_of_memory")

ALERT = Alert(
    name="VllmOutOfMemory",
    theme="logs",
    subject=Subject.LOG,
    severity=Severity.TICKET,
    expression=raised(*_EVENTS),
    events=_EVENTS,
    hold="0s",
    summary="{{ $labels.server }} ran out of memory ({{ $labels.event }})",
    description=DESCRIPTION,
    board=Board.LOGS,
    cases=(
        fires(
            "the first since the count began, and the host's",
            logged("cuda_out_of_memory", then(steady(0, "20m"), steady(1, "40m"))),
            logged("host_out_of_memory", then(steady(3, "40m"), steady(4, "20m")), "box:8001"),
            at("19m"),
            at("21m", told("cuda_out_of_memory")),
            at("35m"),
            at("41m", told("host_out_of_memory", "box:8001")),
        ),
        quiet(
            "what was counted before, and events of other kinds",
            logged("cuda_out_of_memory", steady(7, "1h")),
            logged("engine_dead", then(steady(0, "20m"), steady(1, "40m"))),
            logged("kv_cache_too_small", then(steady(0, "20m"), steady(1, "40m"))),
            at("10m"),
            at("25m"),
        ),
        messy(
            "scraped twice; the exporter away for five minutes, and its count goes on; an event while it was away",
            logged("cuda_out_of_memory", then(steady(2, "20m"), missing("5m"), steady(2, "35m"))),
            logged("host_out_of_memory", then(steady(2, "20m"), missing("5m"), steady(3, "35m"))),
            logged("host_out_of_memory", then(steady(2, "20m"), missing("5m"), steady(3, "35m")), job="again"),
            at("19m"),
            at("27m", told("host_out_of_memory")),
            at("45m"),
        ),
    ),
)
