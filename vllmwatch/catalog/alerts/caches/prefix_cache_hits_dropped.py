"""Of the prompt tokens of a model less than half as many come from a cache as in the day before.

## What it means

For half an hour the share of prompt tokens of the last half hour that came from a cache was less than half of what it
was over the 24 hours until an hour ago. That was more than 20 %, and there are more than 50 prompt tokens a second. The
value is the present share.

## Why it matters

What comes from the cache is not computed. When it no longer does, the same requests cost more, first tokens come later,
and servers that were enough are not. Nothing fails, so nobody looks.

## First look

- `vllmwatch:server:cached_prompt_tokens:ratio_rate5m`: one server, or all? When did it begin?
- `vllmwatch:server:restarts:increase1h`: a server that was started anew begins with an empty cache.
- `vllmwatch:server:kv_cache_usage_ratio:max`: a full KV cache throws cached blocks out.
- What did clients change? Compare two prompts of one client: from which letter on do they differ?

## What to do

1. The prompt begins with what differs each time (a date, a name, an identifier): put that at its end.
2. The load balancer no longer sends one conversation to one server: give it back its affinity.
3. The cache is full: more room (`--kv-cache-dtype fp8`, more servers), or a lower `--max-num-seqs`.
4. Another use of the model: it is as it is, and the alert ends within a day.

## When it lies

A day has hours of chat and hours of batch jobs with other shares; a job that begins at night may look like a drop.
Before vLLM 0.16 the share is of the tokens looked up in the prefix cache.
"""

from vllmwatch.catalog.alerts.caches._cases import cases_of_a_drop
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="PrefixCacheHitsDropped",
    theme="caches",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:model:cached_prompt_tokens:ratio_avg30m < 0.5 * vllmwatch:model:cached_prompt_tokens:ratio_avg24h\n"
        "and vllmwatch:model:cached_prompt_tokens:ratio_avg24h > 0.2\n"
        "and vllmwatch:model:cacheable_prompt_tokens:avg30m > 50"
    ),
    hold="30m",
    keep_firing="15m",
    summary="Prompts to {{ $labels.model_name }} come from the cache no longer",
    description=(
        "{{ $value | humanizePercentage }} of the prompt tokens of {{ $labels.model_name }} in the last 30 minutes "
        "came from a cache, less than half of the share in the day before."
    ),
    board=Board.SERVER,
    causes=("ModelWithoutServer", "VllmCrashLooping", "VllmServerDown"),
    cases=cases_of_a_drop("vllm:prompt_tokens_cached_total", "vllm:prompt_tokens_total", 50),
)
