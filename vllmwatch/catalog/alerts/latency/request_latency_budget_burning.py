"""So many requests to a model are slow that its latency objective will soon be missed.

## What it means

By its objective 95 % of a model's requests (`request_latency_objective_ratio`) are to end within its
`request_latency_p99_seconds` over 30 days; the other 5 % are its budget. Either the last hour and the last five minutes
used the budget 14.4 times as fast as it lasts (more than 72 % were slow, at least 20 of them), or the last six hours
and the last half hour 6 times as fast (more than 30 %, at least 50 of them).

## Why it matters

Most users of the model notice. At this speed the budget of a month is gone in two days, or in five. Few slow requests,
or many for a few minutes, do not matter: that is what the budget is for. It is a page for a model that has a
`request_latency_objective_ratio` or a `request_latency_p99_seconds` of its own under `models`, and a ticket for the
others: long answers take more than 2 s when all is well. For pages in any case set
`severities: {RequestLatencyBudgetBurning: page}`.

## First look

- The board of the model: since when, and which part of the time, queue, prompt or answer?
- `vllmwatch:server:request_latency_slow:ratio_increase5m`: one server, or all?
- `vllmwatch:model:requests_waiting:sum` and `vllmwatch:engine:kv_cache_usage_ratio:max`: are servers full?
- What changed? `vllmwatch:server:restarts:increase1h`, your last deploy, who sends more than yesterday.

## What to do

1. One server is slow: take it out of the load balancer, then look at its log (`docker logs`, `journalctl`) and its GPUs
   (`nvidia-smi -q -d PERFORMANCE`).
2. All are full: add servers, or refuse some (`--max-num-queued-reqs`), so that the others are served in time.
3. It began with a deploy: roll back.
4. Nothing is wrong and answers are long by nature: set the model's own `request_latency_p99_seconds` under `models`.

## When it lies

An objective below 93 % cannot be missed 14.4 times as fast; then more than 95 % must be slow. A model that was asked
little before has few requests to weigh against: 20 slow ones in an hour may be all that it served. What clients gave up
is not counted, and servers whose histogram lacks the edge are left out (`LatencyEdgeMissing`).
"""

from vllmwatch.catalog.alerts.latency._budget_cases import cases_of_burning
from vllmwatch.catalog.error_budget import burning
from vllmwatch.catalog.latencies import REQUEST
from vllmwatch.catalog.thresholds import REQUEST_LATENCY, REQUEST_OBJECTIVE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="RequestLatencyBudgetBurning",
    theme="latency",
    subject=Subject.MODEL,
    # At 2 s by default: chats with long answers are slower when all is well, and nobody is woken for that.
    severity=Severity.TICKET,
    own_severity=Severity.PAGE,
    threshold=REQUEST_OBJECTIVE.key,
    counted_at=REQUEST_LATENCY.key,
    expression=burning(
        "vllmwatch:model:request_latency_slow:ratio_increase",
        "vllmwatch:model:request_latency_slow:increase",
        least_1h=20,
        least_6h=50,
    ),
    hold="2m",
    summary="Most requests to {{ $labels.model_name }} are too slow",
    description=(
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} in the last hour, or the last "
        "six, took longer than its request_latency_p99_seconds; its objective will be missed."
    ),
    board=Board.FLEET,
    # One server that is down, and perhaps silenced as such, must not mute what users of all the others feel.
    causes=("ModelWithoutServer",),
    cases=cases_of_burning(REQUEST, "2.0", 1 - REQUEST_OBJECTIVE.default),
)
