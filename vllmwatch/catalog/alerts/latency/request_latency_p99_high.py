"""More than one request in a hundred to a model takes longer than its threshold.

## What it means

For a quarter of an hour more than 1 % of the requests of the last ten minutes took longer from arrival to the last
token than `request_latency_p99_seconds` (2 s, or what `models` says of this model): the 99th percentile is above it.
Slow requests are counted at a bucket edge of vLLM's histogram; nothing is interpolated. At least 100 requests ended,
and 5 of them were slow.

## Why it matters

Users wait. Whether the wait is too long is for you to say: two seconds suit short answers, and a chat that streams 500
tokens takes longer when all is well. That is why this is a ticket, and a page for a model whose threshold you have
set under `models`.

## First look

- The board of the model: which share of the time is the queue, the prompt, the answer?
- `vllmwatch:server:request_latency_slow:ratio_increase10m`: one server, or all? One is a fault, all are load.
- `vllmwatch:model:requests_waiting:sum` and `vllmwatch:model:queue_time_seconds:p90_5m`: does it come from waiting?
- `nvidia-smi -q -d PERFORMANCE,CLOCK` on the node: is a GPU held down by heat or power?

## What to do

1. Requests wait: add a server, or send less to this model (`QueueTimeHigh` says since when).
2. One server is slow: look at its GPUs and its log, take it out of the load balancer, start it anew.
3. All are slow and nobody waits: answers became longer, or more run at once. Lower `--max-num-seqs` for shorter steps,
   or use a faster card or more GPUs a server (`--tensor-parallel-size`).
4. It is as it should be: raise `request_latency_p99_seconds` for this model under `models` in the settings.

## When it lies

Time goes with the length of the answer, so a change in what users ask looks like a slow server; the time to the first
token and between tokens do not. vLLM leaves requests out that their clients gave up: where clients give up after ten
seconds, a server on which all take fifteen looks quick. `RequestsAbandoned` and the time to the first token see these.
A server whose histogram lacks the edge is left out, and `LatencyEdgeMissing` tells of it.
"""

from vllmwatch.catalog.alerts.latency._series import CAUSES, cases_of_a_share
from vllmwatch.catalog.latencies import REQUEST
from vllmwatch.catalog.thresholds import REQUEST_LATENCY
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="RequestLatencyP99High",
    theme="latency",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    own_severity=Severity.PAGE,
    counted_at=REQUEST_LATENCY.key,
    expression=(
        "vllmwatch:model:request_latency_slow:ratio_increase10m{<models>} > 0.01\n"
        "and vllmwatch:model:request_latency_slow:increase10m >= 5\n"
        "and vllmwatch:model:request_latency_observed:increase10m >= 100"
    ),
    hold="15m",
    keep_firing="10m",
    summary="Requests to {{ $labels.model_name }} are slow",
    description=(
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} in the last 10 minutes took "
        "longer than its request_latency_p99_seconds; 1 % may."
    ),
    board=Board.FLEET,
    causes=CAUSES,
    cases=cases_of_a_share(REQUEST, "2.0"),
)
