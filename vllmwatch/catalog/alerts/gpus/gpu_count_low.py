"""A node has fewer GPUs than it had some hours ago, and nobody knows where they are.

## What it means

For ten minutes the exporter has known of fewer GPUs than answered within the last six hours. GPUs that are lost while
the exporter runs are known, and `GpuLost` tells of them; these it does not even know: it was started anew since, or its
container no longer has their devices.

## Why it matters

Nothing about the missing GPUs is watched any more, and no server starts on them.

## First look

- `nvidia-smi -L` on the node, and in the container of the exporter: do they list the same GPUs?
- `lspci | grep -i nvidia` on the node: a GPU that is missing here is off the bus.
- `vllmwatch_gpu_info{node="…"}` some hours ago, on the board: which one is missing, in which slot.

## What to do

1. The node lists them and the container does not: start the container anew, with all GPUs (`docker run --gpus all`).
2. The kernel lists them and the driver does not: `journalctl -k -b | grep NVRM` says why. Reboot the node.
3. The kernel does not list them: cut the node's power; then have seat, riser and card looked at.

## When it lies

Somebody took a GPU out, or gave it to a virtual machine: the alert ends by itself six hours after that, also where
nothing was mended.
"""

from vllmwatch.catalog.alerts.gpus._words import B, reading
from vllmwatch.catalog.recordings.stories.words import NODE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_UP = "vllmwatch_gpu_up"

ALERT = Alert(
    name="GpuCountLow",
    theme="gpus",
    subject=Subject.NODE,
    severity=Severity.TICKET,
    expression="vllmwatch:node:gpus_missing:max6h",
    hold="10m",
    summary="{{ $labels.node }} has fewer GPUs than some hours ago",
    description="GPUs that {{ $labels.node }} had within 6 hours and that are no longer there: {{ $value }}.",
    board=Board.GPU,
    cases=(
        fires(
            "after a restart of the exporter one of two GPUs is not there",
            reading(_UP, steady(1, "80m")),
            reading(_UP, then(steady(1, "1h"), "stale"), B),
            at("69m"),
            at("75m", {"node": NODE}),
        ),
        quiet(
            "a GPU is lost, which is told of elsewhere, and another was exchanged",
            reading(_UP, steady(1, "2h")),
            reading(_UP, then(steady(1, "1h"), steady(0, "1h")), B),
            reading(_UP, then(steady(1, "1h"), steady(0, "10m"), "stale"), "GPU-2"),
            reading(_UP, then(missing("70m"), steady(1, "50m")), "GPU-3"),
            at("90m"),
            at("2h"),
        ),
        messy(
            "two exporters, of which one sees half; the exporter of another node is away, and sees all afterwards",
            reading(_UP, steady(1, "2h")),
            reading(_UP, steady(1, "2h"), B),
            reading(_UP, then(steady(1, "1h"), "stale"), B, job="again"),
            reading(_UP, then(steady(1, "1h"), missing("20m"), steady(1, "40m")), "GPU-2", node="other"),
            reading(_UP, then(steady(1, "1h"), missing("20m"), steady(1, "40m")), "GPU-3", node="other"),
            reading(_UP, then(steady(1, "1h"), "stale"), "GPU-4", node="third"),
            reading(_UP, steady(1, "2h"), "GPU-5", node="third"),
            at("100m", {"node": "third"}),
        ),
    ),
)
