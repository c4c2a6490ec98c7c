"""More than one request in a hundred to a model waits for its first token longer than its threshold.

## What it means

For a quarter of an hour more than 1 % of the first tokens of the last ten minutes came later than
`time_to_first_token_p99_seconds` (2.5 s, or what `models` says of this model) after the request arrived: the 99th
percentile is above it. They are counted at a bucket edge of vLLM's histogram. At least 100 first tokens came, and 5 of
them late.

## Why it matters

Until the first token a user sees nothing. It is the wait in the queue and the time for the prompt, whatever the length
of the answer, so it tells a slow server from long answers. Requests that clients gave up later are in it. For a model
whose threshold you have set this is a page.

## First look

- `vllmwatch:server:time_to_first_token_slow:ratio_increase10m`: one server, or all?
- `vllmwatch:model:queue_time_seconds:p90_5m`: is it the queue? Then it is load.
- `vllmwatch:model:cached_prompt_tokens:ratio_rate5m` against yesterday: are prompts computed that used to be cached?
- `vllmwatch:model:prompt_tokens:rate5m` over `vllmwatch:model:requests_with_first_token:rate5m`: are prompts longer?

## What to do

1. It is the queue: add a server, or send less.
2. Prompts come from the cache no longer: see `PrefixCacheHitsDropped`.
3. Prompts are long: let a step take more of them (`--max-num-batched-tokens`), keep chunked prefill on, or serve long
   prompts by servers of their own.
4. One server: look for a GPU that is throttled, and at its log with `docker logs` or `journalctl`.

## When it lies

A model that reads whole books takes seconds for each: raise its threshold under `models`. With a prefill server and a
decode server the time is of the decode server, the transfer included. The default is 2.5 s: vLLM has no edge at 2 s.
"""

from vllmwatch.catalog.alerts.latency._series import CAUSES, cases_of_a_share
from vllmwatch.catalog.latencies import FIRST_TOKEN
from vllmwatch.catalog.thresholds import FIRST_TOKEN as FIRST_TOKEN_THRESHOLD
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="TimeToFirstTokenP99High",
    theme="latency",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    own_severity=Severity.PAGE,
    counted_at=FIRST_TOKEN_THRESHOLD.key,
    expression=(
        "vllmwatch:model:time_to_first_token_slow:ratio_increase10m{<models>} > 0.01\n"
        "and vllmwatch:model:time_to_first_token_slow:increase10m >= 5\n"
        "and vllmwatch:model:time_to_first_token_observed:increase10m >= 100"
    ),
    hold="15m",
    keep_firing="10m",
    summary="First tokens of {{ $labels.model_name }} come late",
    description=(
        "{{ $value | humanizePercentage }} of the first tokens of {{ $labels.model_name }} in the last 10 minutes came "
        "later than its time_to_first_token_p99_seconds; 1 % may."
    ),
    board=Board.FLEET,
    causes=CAUSES,
    cases=cases_of_a_share(FIRST_TOKEN, "2.5"),
)
