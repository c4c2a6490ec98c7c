"""A vLLM server did not start, and its log says why.

## What it means

The label `event` is the reason: `kv_cache_too_small` (no memory left for the KV cache), `model_not_found`,
`unsupported_flag`, `port_in_use`, `driver_mismatch`, or `engine_start_failed` where the cause is another.

## Why it matters

A server that never was up is missed by nobody until load comes that it should have carried. A supervisor that starts it
again and again changes nothing: each of these reasons stays until somebody mends it.

## First look

- `vllmwatch logs parse --events FILE`: the first event is the cause, the others follow from it.
- The command line of the server (`ps -o args= -C vllm`, `docker inspect --format '{{.Args}}' NAME`).
- `nvidia-smi`: does the driver answer, and is the GPU free?

## What to do

1. `kv_cache_too_small`: lower `--max-model-len`, raise `--gpu-memory-utilization`, or free the GPU of others.
2. `model_not_found`: the name or the path, `HF_TOKEN` for a gated model, the network, `HF_HUB_OFFLINE`.
3. `unsupported_flag`: flags come and go with releases of vLLM; compare with `vllm serve --help=all`.
4. `port_in_use`: `ss -ltnp` names who listens, often an older server that was not stopped.
5. `driver_mismatch`: after an update of the driver, reboot; else take a vLLM that was built for this CUDA.

## When it lies

Somebody tries flags by hand, sees the message, and tries again.
"""

from vllmwatch.catalog.alerts.logs._words import DESCRIPTION, logged, raised, told
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_EVENTS = (
    "kv_cache_too_small",
    "model_not_found",
    "unsupported_flag",
    "port_in_use",
    "driver_mismatch",
    "engine_start_failed",
)

ALERT = Alert(
    name="VllmStartFailed",
    theme="logs",
    subject=Subject.LOG,
    severity=Severity.TICKET,
    expression=raised(*_EVENTS),
    events=_EVENTS,
    hold="0s",
    summary="{{ $labels.server }} did not start ({{ $labels.event }})",
    description=DESCRIPTION,
    board=Board.LOGS,
    cases=(
        fires(
            "no room for the KV cache, and the failure that follows from it",
            logged("kv_cache_too_small", then(steady(0, "20m"), steady(1, "40m"))),
            logged("engine_start_failed", then(steady(0, "20m"), steady(1, "40m"))),
            at("19m"),
            at("21m", told("kv_cache_too_small"), told("engine_start_failed")),
            at("35m"),
        ),
        quiet(
            "an engine that dies later",
            logged("engine_dead", then(steady(0, "20m"), steady(1, "40m"))),
            logged("model_not_found", steady(1, "1h")),
            at("10m"),
            at("25m"),
        ),
        messy(
            "scraped twice, again and again, with the exporter away in between",
            logged("port_in_use", then(steady(0, "10m"), steady(1, "10m"), missing("5m"), steady(4, "35m"))),
            logged("port_in_use", then(steady(0, "10m"), steady(1, "10m"), missing("5m"), steady(4, "35m")), job="b"),
            at("9m"),
            at("12m", told("port_in_use")),
            at("27m", told("port_in_use")),
            at("45m"),
        ),
    ),
)
