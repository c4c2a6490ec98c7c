"""The board of logs: what went wrong, in whose words, the requests it hit, what the kernel says, and how models loaded.

Streams carry `job` (vllm, kernel), `node`, `server` and `level`; each line `event` and `request_id` where it has them.
"""

from vllmwatch.catalog.boards._words import NODE, SERVER_OF_TARGETS, Scope, logs, panel, row
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import NONE_FOUND, Dashboard, Look, Query, Source
from vllmwatch.spec.recording import EVENTS_PER_SECOND
from vllmwatch.spec.unit import COUNT

_SCOPE = Scope((NODE, SERVER_OF_TARGETS))
_VLLM = '{job="vllm",node=~"$node",server=~"$server"}'
_KERNEL = '{job="kernel",node=~"$node"}'
_NO_LOGS = "No lines: are logs shipped to Loki?"


def _counted(expression: str, *labels: str) -> Query:
    return Query(expression, labels, " ".join(f"{{{{{label}}}}}" for label in labels), source=Source.LOGS)


BOARD = Dashboard(
    Board.LOGS,
    "vLLM logs",
    "What do the servers and the kernel say, and since when?",
    _SCOPE.variables,
    (
        row(
            "What went wrong?",
            panel(
                "How many lines of each level?",
                Look.LINES,
                _counted(f"topk($most, sum by (level) (rate({_VLLM}[$__auto])))", "level"),
                also="Lines a second of the servers' logs, by level.",
                unit=EVENTS_PER_SECOND,
                no_data=_NO_LOGS,
                width=12,
                stacked=True,
            ),
            panel(
                "Which events, and how many?",
                Look.LINES,
                _counted(
                    f'topk($most, sum by (event, server) (count_over_time({_VLLM} | event!="" [$__auto])))',
                    "event",
                    "server",
                ),
                also="Lines that tell of a known fault: memory that ran out, a worker that died, NCCL that waits.",
                unit=COUNT,
                no_data=NONE_FOUND,
                width=12,
                alerts=("VllmOutOfMemory", "VllmStartFailed", "VllmFaultLogged"),
            ),
        ),
        row(
            "In whose words?",
            panel(
                "What do errors say?",
                Look.LOGS,
                logs(f'{_VLLM} | level=~"(?i)error|critical|fatal"'),
                also="Lines of level error and above, tracebacks included.",
                no_data=NONE_FOUND,
                width=24,
                height=10,
            ),
            panel(
                "What does the kernel say of GPUs?",
                Look.LOGS,
                logs(f'{_KERNEL} |~ "NVRM|nvidia|Xid|NVLink"'),
                also="XID events and whatever else the driver writes to the kernel's log.",
                no_data=NONE_FOUND,
                width=24,
                alerts=("GpuXidCritical", "GpuXidApplication", "GpuLost"),
            ),
        ),
        row(
            "Which requests, and how did models load?",
            panel(
                "What became of a request?",
                Look.LOGS,
                logs(f'{_VLLM} | request_id!="" |= `$search`'),
                also="Lines with the id of a request; write the id, or a part of it, into Search above.",
                no_data="None; see --enable-log-requests",
                width=12,
                height=10,
            ),
            panel(
                "How long do models take to load?",
                Look.LOGS,
                logs(f'{_VLLM} |~ "(?i)loading (weights|model)|model loading took|init engine|startup complete"'),
                also="Lines of starts: weights, compilation, KV cache, and readiness.",
                no_data=NONE_FOUND,
                width=12,
                height=10,
            ),
        ),
        row(
            "What is written?",
            panel(
                "What do the servers write?",
                Look.LOGS,
                logs(f"{_VLLM} |= `$search`"),
                also="The servers' logs as they are, with Search above.",
                no_data=_NO_LOGS,
                width=24,
                height=14,
            ),
        ),
    ),
    has_logs=True,
)
