"""More than one output step in a hundred of a model takes longer than its threshold: answers stutter.

## What it means

For a quarter of an hour more than 1 % of the output steps of the last ten minutes took longer than
`inter_token_latency_p99_seconds` (0.1 s, or what `models` says of this model). They are counted at a bucket edge of
vLLM's histogram. At least 1,000 steps were made, and 50 of them were slow.

## Why it matters

Who reads an answer as it comes sees it stop and go, and long answers take longer as a whole. A whole server that
becomes slower here has a GPU that is held down, or more to do at once than its card can. For a model
whose threshold you have set this is a page.

## First look

- `vllmwatch:server:inter_token_latency_slow:ratio_increase10m`: one server, or all?
- `vllmwatch:server:preemptions:rate5m`: a request that is put back waits between two tokens.
- `vllmwatch:model:prompt_tokens:rate5m`: prompts are computed between the tokens of others.
- `nvidia-smi -q -d PERFORMANCE,CLOCK,POWER` on the node: are clocks held down? `GpuThermalThrottle` says so too.

## What to do

1. Preemptions: make room in the KV cache, see `KvCacheExhausted`.
2. Long prompts between tokens: smaller steps (`--max-num-batched-tokens`), with chunked prefill on.
3. Too many at once: lower `--max-num-seqs`, or add a server.
4. One GPU of a group is slow: the others wait for it at each step; find it on the board of GPUs.

## When it lies

A step of a large model on a busy server takes more than 0.1 s when all is well: set its threshold to an edge above what
`vllmwatch:model:inter_token_latency_seconds:p99_5m` shows on a good day. With speculation a step brings several tokens.
"""

from vllmwatch.catalog.alerts.latency._series import CAUSES, cases_of_a_share
from vllmwatch.catalog.latencies import INTER_TOKEN
from vllmwatch.catalog.thresholds import INTER_TOKEN as INTER_TOKEN_THRESHOLD
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="InterTokenLatencyP99High",
    theme="latency",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    own_severity=Severity.PAGE,
    counted_at=INTER_TOKEN_THRESHOLD.key,
    expression=(
        "vllmwatch:model:inter_token_latency_slow:ratio_increase10m{<models>} > 0.01\n"
        "and vllmwatch:model:inter_token_latency_slow:increase10m >= 50\n"
        "and vllmwatch:model:inter_token_latency_observed:increase10m >= 1000"
    ),
    hold="15m",
    keep_firing="10m",
    summary="Answers of {{ $labels.model_name }} stutter",
    description=(
        "{{ $value | humanizePercentage }} of the output steps of {{ $labels.model_name }} in the last 10 minutes took "
        "longer than its inter_token_latency_p99_seconds; 1 % may."
    ),
    board=Board.SERVER,
    causes=CAUSES,
    cases=cases_of_a_share(INTER_TOKEN, "0.1", scale=10),
)
