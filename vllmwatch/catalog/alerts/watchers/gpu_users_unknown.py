"""A GPU is in use, and it is not known by whom.

## What it means

For an hour the join could not tell which server uses this GPU; `reason` says why.

## Why it matters

Energy, cost and the page about a lost GPU lack the server. Nothing else is wrong.

## First look

- `curl -s HOST:9836/debug/last | jq .join`: the reasons with their meanings, and notes.
- `nvidia-smi --query-compute-apps=pid,used_memory --format=csv` on the host.
- `docs/join.md` has a table of all reasons, with what to do.

## What to do

1. `pid_namespace`: run the exporter with the host's PIDs (`pid: host` in Compose).
2. `elsewhere`, `ray`, `no_process_list`: name the GPUs in `servers` of vllmwatch.yml.
3. `no_target`: the server is there and is not watched; see `discovery_problems` in /debug/last.

## When it lies

Somebody works on this GPU with something other than a vLLM server, which a reason such as `offline` says.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, of_gpu
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_UNMAPPED = "vllmwatch_gpu_unmapped"
_WHO = {"node": NODE, "uuid": "GPU-0", "reason": "pid_namespace"}

ALERT = Alert(
    name="GpuUsersUnknown",
    theme="watchers",
    subject=Subject.GPU,
    own_labels=("reason",),
    severity=Severity.TICKET,
    expression='max by (node, uuid, reason) (vllmwatch_gpu_unmapped{reason!~"orphaned|offline"})',
    hold="1h",
    summary='It is not known who uses {{ printf "%.12s" $labels.uuid }} on {{ $labels.node }}',
    description="The join finds no server for {{ $labels.uuid }} ({{ $value }} reason: {{ $labels.reason }}).",
    board=Board.GPU,
    causes=("NvmlDown",),
    cases=(
        fires(
            "for an hour",
            of_gpu(_UNMAPPED, steady(1, "2h"), "GPU-0", reason="pid_namespace"),
            at("59m"),
            at("62m", _WHO),
        ),
        quiet(
            "while a server starts",
            of_gpu(_UNMAPPED, then(steady(1, "20m"), "stale", missing("2h")), "GPU-0", reason="no_target"),
            at("2h"),
        ),
        quiet("of somebody else's work", of_gpu(_UNMAPPED, steady(1, "2h"), "GPU-0", reason="offline"), at("90m")),
        messy(
            "scraped twice; another GPU is known of after a while",
            of_gpu(_UNMAPPED, steady(1, "2h"), "GPU-0", reason="pid_namespace"),
            of_gpu(_UNMAPPED, steady(1, "2h"), "GPU-0", reason="pid_namespace", job="again"),
            of_gpu(_UNMAPPED, then(steady(1, "50m"), "stale"), "GPU-1", reason="pid_namespace"),
            at("90m", _WHO),
        ),
    ),
)
