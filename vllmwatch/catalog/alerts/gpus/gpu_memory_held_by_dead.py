"""Memory of a GPU is held by processes that are dead, or whose server is gone.

## What it means

For ten minutes more than 1 GiB was held by a process that no longer exists, or the GPU has been held by vLLM processes
whose server is gone.

## Why it matters

The next server on this GPU finds less memory than it asks for, and does not start ("Free memory on device … is less
than desired GPU memory utilization").

## First look

- `vllmwatch_gpu_held_memory_bytes{uuid="…"}`: how much, and by whom (`dead`, `other`).
- `nvidia-smi --query-compute-apps=pid,used_memory --format=csv -i UUID`: the process numbers as the driver has them.
- `ps -eo pid,ppid,etime,args | grep "VLLM::"`: engines and workers whose parent is gone (parent 1).
- `fuser -v /dev/nvidia*`: whoever still has the device open.

## What to do

1. vLLM processes whose server is gone: end them by their numbers (`kill PID`, then `kill -9 PID`).
2. A process that is gone: something of it is left in the kernel, or in a container that does not end. End the
   container, or whoever `fuser` names.
3. Nobody has the device open and the memory is still held: `nvidia-smi --gpu-reset -i UUID`, or reboot the node.

## When it lies

An exporter in a container of its own sees no processes of others; it must share the host's process numbers
(`--pid=host`), or it says that it cannot tell. While a large process ends, its memory may be held for a minute.
"""

from vllmwatch.catalog.alerts.gpus._words import SHORT_UUID, B, gpu, reading
from vllmwatch.catalog.recordings.stories.words import SERVER
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_HELD = "vllmwatch_gpu_held_memory_bytes"
_UNMAPPED = "vllmwatch_gpu_unmapped"
_GIB = 2**30
_DEAD = {"holder": "dead", "server": ""}
_OTHER = {"holder": "other", "server": ""}

ALERT = Alert(
    name="GpuMemoryHeldByDead",
    theme="gpus",
    subject=Subject.GPU,
    severity=Severity.TICKET,
    expression=f"vllmwatch:gpu:abandoned_memory_bytes:max > {_GIB}",
    hold="10m",
    causes=("GpuLost",),
    summary=f"Memory of {SHORT_UUID} of {{{{ $labels.node }}}} is held by dead processes",
    description="{{ $value | humanize1024 }}B of {{ $labels.uuid }} are held by processes that serve nobody.",
    board=Board.GPU,
    cases=(
        fires(
            "2 GiB of a process that is gone",
            reading(_HELD, then(steady(0, "10m"), steady(2 * _GIB, "30m")), **_DEAD),
            at("19m"),
            at("22m", gpu()),
        ),
        fires(
            "a server was killed, and its engine lives on",
            reading(_HELD, steady(70 * _GIB, "40m"), **_OTHER),
            reading(_UNMAPPED, then(missing("10m"), steady(1, "30m")), reason="orphaned"),
            at("19m"),
            at("22m", gpu()),
        ),
        quiet(
            "half a GiB of the dead, much of others who are at work, and a server that ends within five minutes",
            reading(_HELD, steady(_GIB / 2, "40m"), **_DEAD),
            reading(_HELD, steady(70 * _GIB, "40m"), **_OTHER),
            reading(_UNMAPPED, steady(1, "40m"), reason="offline"),
            reading(_HELD, then(steady(70 * _GIB, "15m"), steady(0, "25m")), B, **_OTHER),
            reading(_UNMAPPED, then(missing("10m"), steady(1, "5m"), "stale"), B, reason="orphaned"),
            reading(_HELD, steady(70 * _GIB, "40m"), "GPU-2", holder="server", server=SERVER),
            at("14m30s"),
            at("40m"),
        ),
        messy(
            "scraped twice, away for a while; another says nothing that is a number",
            reading(_HELD, then(steady(2 * _GIB, "15m"), missing("3m"), steady(2 * _GIB, "15m")), **_DEAD),
            reading(_HELD, steady(2 * _GIB, "33m"), job="again", **_DEAD),
            reading(_HELD, steady(0.6 * _GIB, "33m"), B, **_DEAD),
            reading(_HELD, steady(0.6 * _GIB, "33m"), B, job="again", **_DEAD),
            reading(_HELD, not_a_number("33m"), "GPU-2", **_DEAD),
            at("13m", gpu()),
            at("32m", gpu()),
        ),
    ),
)
