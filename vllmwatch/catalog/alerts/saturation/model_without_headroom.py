"""Every server of a model has a queue: only more servers help.

## What it means

For a quarter of an hour requests waited at each server of the model that is up. The value is the shortest queue.

## Why it matters

While one server has none, a better spread of the load helps. When all have one, it does not: each further request makes
somebody wait. It is the plainest sign that a model has too few servers for this hour.

## First look

- `vllmwatch:server:requests_waiting:sum{model_name="…"}`: how long are the queues?
- `count by (model_name) (vllmwatch:server:requests_running:sum)`: is a server missing that was there yesterday?
- `vllmwatch:model:queue_time_seconds:p90_5m`: how long do requests wait?
- `vllmwatch:model:requests_with_first_token:rate5m` over a week: is it the hour, or growth?

## What to do

1. Start another server of the model, or let the autoscaler do so; look at why it did not.
2. No GPU is free for one: bound the queues (`--max-num-queued-reqs`), or move batch work to another hour.
3. Servers run fewer than they could (`vllmwatch:server:kv_cache_usage_ratio:max` is low): raise `--max-num-seqs`.

## When it lies

A batch job keeps a queue at every server on purpose. Requests that wait for something other than room (a transfer of KV
blocks, a grammar) count as well.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_WAITING = "vllm:num_requests_waiting"
_B = "box:8001"

ALERT = Alert(
    name="ModelWithoutHeadroom",
    theme="saturation",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression="min by (model_name) (vllmwatch:server:requests_waiting:sum) > 0",
    hold="15m",
    keep_firing="10m",
    summary="All servers of {{ $labels.model_name }} have a queue",
    description="At least {{ $value }} requests wait at each server of {{ $labels.model_name }}.",
    board=Board.FLEET,
    causes=("ModelWithoutServer",),
    cases=(
        fires(
            "one waits at one server, and many at the other",
            of_engine(_WAITING, then(steady(0, "5m"), steady(1, "25m"), steady(0, "20m"))),
            of_engine(_WAITING, steady(40, "50m"), server=_B),
            at("18m"),
            at("25m", {"model_name": MODEL}),
            at("45m"),
        ),
        quiet(
            "many wait at one server, and none at the other; all wait for ten minutes",
            of_engine(_WAITING, steady(40, "40m")),
            of_engine(_WAITING, steady(0, "40m"), server=_B),
            of_engine(_WAITING, then(steady(0, "5m"), steady(9, "10m"), steady(0, "25m")), model_name="other"),
            at("14m"),
            at("30m"),
        ),
        messy(
            "a server that is down has no queue and does not count, nor do an idle engine and a second scrape",
            of_engine(_WAITING, steady(3, "50m")),
            of_engine(_WAITING, steady(0, "50m"), engine="1"),
            of_engine(_WAITING, steady(3, "50m"), job="again"),
            of_engine(_WAITING, then(steady(0, "10m"), missing("40m")), server=_B),
            of_engine(_WAITING, not_a_number("50m"), server="box:8002", model_name="other"),
            at("22m"),
            at("35m", {"model_name": MODEL}),
        ),
    ),
)
