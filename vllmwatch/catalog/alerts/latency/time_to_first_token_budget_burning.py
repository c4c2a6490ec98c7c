"""So many first tokens of a model come late that its objective will soon be missed.

## What it means

By its objective 99 % of a model's first tokens (`time_to_first_token_objective_ratio`) are to come within its
`time_to_first_token_p99_seconds` over 30 days; the other 1 % are its budget. Either the last hour and the last five
minutes used the budget 14.4 times as fast as it lasts (more than 14 % came late, at least 20 of them), or the last six
hours and the last half hour 6 times as fast (more than 6 %, at least 50 of them).

## Why it matters

Users look at an empty answer, and many give up. Unlike the time of the whole request it does not depend on how long
answers are, so it is a queue, long prompts, or a server that is slow.

## First look

- `vllmwatch:server:time_to_first_token_slow:ratio_increase5m`: one server, or all?
- `vllmwatch:model:queue_time_seconds:p90_5m`: is it the queue? Then there are too few servers.
- `vllmwatch:model:cached_prompt_tokens:ratio_rate5m`: do prompts no longer come from the prefix cache?
- `vllmwatch:server:kv_cache_usage_ratio:max`: a full cache holds requests back.

## What to do

1. A queue at all servers: add servers, or refuse some (`--max-num-queued-reqs`), so that the others are in time.
2. A queue at one: is the load spread evenly? Does the server compute at all? See its log.
3. No queue: long prompts, or lost cache hits. Find who sends them; see `PrefixCacheHitsDropped`.
4. One server without a queue: take it out of the load balancer and look at its GPUs with `nvidia-smi -q`.

## When it lies

A batch job that queues ten thousand requests at once makes first tokens late on purpose: give such a model a threshold
of its own under `models`, or another severity. A model that was asked little before has few to weigh against.
"""

from vllmwatch.catalog.alerts.latency._budget_cases import cases_of_burning
from vllmwatch.catalog.error_budget import burning
from vllmwatch.catalog.latencies import FIRST_TOKEN
from vllmwatch.catalog.thresholds import FIRST_TOKEN_OBJECTIVE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="TimeToFirstTokenBudgetBurning",
    theme="latency",
    subject=Subject.MODEL,
    severity=Severity.PAGE,
    threshold=FIRST_TOKEN_OBJECTIVE.key,
    expression=burning(
        "vllmwatch:model:time_to_first_token_slow:ratio_increase",
        "vllmwatch:model:time_to_first_token_slow:increase",
        least_1h=20,
        least_6h=50,
    ),
    hold="2m",
    summary="Users of {{ $labels.model_name }} wait long for first tokens",
    description=(
        "{{ $value | humanizePercentage }} of the first tokens of {{ $labels.model_name }} in the last hour, or the "
        "last six, came later than its time_to_first_token_p99_seconds; its objective will be missed."
    ),
    board=Board.FLEET,
    # One server that is down, and perhaps silenced as such, must not mute what users of all the others feel.
    causes=("ModelWithoutServer",),
    cases=cases_of_burning(FIRST_TOKEN, "2.5", 1 - FIRST_TOKEN_OBJECTIVE.default),
)
