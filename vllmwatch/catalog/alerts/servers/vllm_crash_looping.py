"""A server starts again and again.

## What it means

The server began anew at least three times within an hour, by its own start time or by counters that fell.

## Why it matters

A supervisor that restarts it (`restart: unless-stopped`, systemd) hides the crashes: between two of them it looks well,
and users get errors each time.

## First look

- `vllmwatch:server:restarts:increase1h{server="…"}`, and the board: how long does it live?
- `docker inspect --format '{{.State.ExitCode}} {{.State.OOMKilled}}' NAME`, or `systemctl status`.
- The log before each start: the first traceback counts, the others follow from it.
- `journalctl -k | grep -iE 'xid|out of memory'`.

## What to do

1. Exit code 137: memory. A larger limit for the container, less KV offload, more `--shm-size`.
2. An XID: the GPU; see `GpuXidCritical`.
3. The same request each time: take it out, and report it with the log.
4. Stop the restarts while you look, so that the evidence stays.

## When it lies

Somebody tries settings and restarts it by hand. A server that dies before it answers is not counted: `VllmServerDown`
tells of it after half an hour.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine, of_server, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_START = "process_start_time_seconds"
_WHO = {"node": NODE, "server": SERVER, "model_name": MODEL}

ALERT = Alert(
    name="VllmCrashLooping",
    theme="servers",
    subject=Subject.SERVER,
    severity=Severity.PAGE,
    expression="vllmwatch:server:restarts:increase1h >= 3",
    hold="0s",
    keep_firing="10m",
    summary="{{ $labels.server }} starts again and again ({{ $labels.model_name }})",
    description="{{ $labels.server }} began anew {{ $value }} times within an hour.",
    board=Board.SERVER,
    causes=("GpuLost", "GpuXidCritical"),
    cases=(
        fires(
            "the third restart within an hour",
            target(steady(1, "2h")),
            of_server(_START, then(*(steady(start, "12m") for start in (1, 2, 3, 4)), steady(4, "1h"))),
            at("30m"),
            at("38m", _WHO),
        ),
        quiet(
            "two restarts",
            target(steady(1, "2h")),
            of_server(_START, then(steady(1, "12m"), steady(2, "12m"), steady(3, "90m"))),
            at("30m"),
            at("70m"),
        ),
        messy(
            "without a start time, by the counters of two engines, which fall together; away for a minute each time",
            target(steady(1, "2h")),
            *(
                of_engine(
                    "vllm:prompt_tokens_total",
                    then(
                        *(part for _ in range(4) for part in (rising(10, "11m", 10), missing("1m"))),
                        rising(10, "1h", 10),
                    ),
                    engine=engine,
                )
                for engine in ("0", "1")
            ),
            at("30m"),
            at("42m", _WHO),
        ),
    ),
)
