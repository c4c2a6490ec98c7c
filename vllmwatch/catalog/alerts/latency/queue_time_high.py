"""More than a tenth of the requests to a model wait in the queue longer than its threshold.

## What it means

For a quarter of an hour more than 10 % of the requests of the last ten minutes waited longer than
`queue_time_p90_seconds` (1 s, or what `models` says of this model) before an engine began with them. At least 50 were
timed. They are counted at a bucket edge of vLLM's histogram.

## Why it matters

Time in the queue is time in which nothing is computed. It depends on neither the length of prompts nor that of answers,
so it is the clearest sign that there are too few servers for the load, and it comes before users complain.

## First look

- `vllmwatch:server:requests_waiting:sum`: do all servers have a queue, or one?
- `vllmwatch:server:kv_cache_usage_ratio:max`: is the KV cache what is missing?
- `vllmwatch:server:requests_running:sum`: as many as `--max-num-seqs` allows?
- `vllmwatch:model:requests_with_first_token:rate5m`: more requests than at this hour yesterday?

## What to do

1. All servers have a queue: add a server.
2. One has: the load balancer sends it too much, or it is slow.
3. The KV cache is not full and `--max-num-seqs` run: raise that, at the price of slower answers.
4. It is one client: ask it to send less at once, or bound the queue (`--max-num-queued-reqs`).

## When it lies

A batch job fills the queue on purpose and nobody waits for an answer: give the model a threshold of its own. Requests
that were given up while they waited are not timed.
"""

from vllmwatch.catalog.alerts.latency._series import CAUSES, OF_MODEL, timed
from vllmwatch.catalog.latencies import QUEUE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet

_EDGE = "1.0"

ALERT = Alert(
    name="QueueTimeHigh",
    theme="latency",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:model:queue_time_slow:ratio_increase10m > 0.1\n"
        "and vllmwatch:model:queue_time_observed:increase10m >= 50"
    ),
    hold="15m",
    keep_firing="10m",
    summary="Requests to {{ $labels.model_name }} wait in the queue",
    description=(
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} in the last 10 minutes waited "
        "in the queue longer than its queue_time_p90_seconds; 10 % may."
    ),
    board=Board.FLEET,
    causes=CAUSES,
    cases=(
        fires(
            "a fifth of 120 in ten minutes wait",
            *timed(QUEUE, _EDGE, (0.2, 0, "10m"), (0.2, 0.04, "50m"), (0.2, 0, "40m"), begin=700),
            at("26m"),
            at("45m", OF_MODEL),
            at("95m"),
        ),
        quiet(
            "8 % wait; twelve of thirty; all for two minutes",
            *timed(QUEUE, _EDGE, (1, 0.08, "1h"), model_name="fewer"),
            *timed(QUEUE, _EDGE, (0.05, 0.02, "1h"), model_name="thirty"),
            *timed(QUEUE, _EDGE, (1, 0, "10m"), (1, 1, "2m"), (1, 0, "48m"), model_name="started"),
            *(at(time) for time in ("15m", "22m", "26m", "50m")),
        ),
        messy(
            "thirty scraped twice are no more, and of two servers one lets requests wait",
            *timed(QUEUE, _EDGE, (0.05, 0.02, "1h"), model_name="few"),
            *timed(QUEUE, _EDGE, (0.05, 0.02, "1h"), model_name="few", job="again"),
            *timed(QUEUE, _EDGE, (1, 0, "1h"), model_name="two"),
            *timed(QUEUE, _EDGE, (1, 0.3, "1h"), model_name="two", server="box:8001"),
            *timed(QUEUE, _EDGE, (0, 0, "1h"), model_name="two", server="box:8002"),
            at("50m", {"model_name": "two"}),
        ),
    ),
)
