"""The KV cache of an engine is nearly full.

## What it means

For ten minutes more than the threshold of the engine's KV cache (90 % unless set otherwise) was in use by running
requests. Cached blocks that no request uses do not count. There is still room, so nobody waits for it yet.

## Why it matters

A full cache makes new requests wait and sends running ones back to the queue, whose work is then done twice. With a
steady load a cache at 90 % is well used; with one that grows it is the last sign before answers get slow.
`KvCacheExhausted` tells when that has come.

## First look

- `vllmwatch:server:kv_cache_exhaustion_seconds:slope10m`, or the board: does the use grow, and how long is there room?
- `vllmwatch:engine:kv_cache_headroom_tokens:now`: how many tokens have room. One long request may need more.
- `vllmwatch:engine:requests_waiting:max` and `vllmwatch:engine:preemptions:rate5m`: does anybody suffer?

## What to do

1. Nobody waits: leave it, and raise `kv_cache_usage_ratio` for this model if it is always like this.
2. It grows: start another server of the model, or send less to this one.
3. Make room for good: a KV cache in fp8 (`--kv-cache-dtype fp8`), a shorter `--max-model-len`, fewer sequences at once
   (`--max-num-seqs`), a higher `--gpu-memory-utilization` where the GPU has memory left, or more GPUs a server.

## When it lies

A few very long requests fill a small cache without harm. With data parallelism the alert is about one engine: when the
others are empty, the load is spread badly and the cache is not too small.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, SERVER, of_engine
from vllmwatch.catalog.thresholds import KV_CACHE_USAGE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, steady, then

_USAGE = "vllm:kv_cache_usage_perc"
_ENGINE_0 = {"node": NODE, "server": SERVER, "engine": "0", "model_name": "llama"}

ALERT = Alert(
    name="KvCacheUsageHigh",
    theme="saturation",
    subject=Subject.ENGINE,
    severity=Severity.TICKET,
    threshold=KV_CACHE_USAGE.key,
    expression="vllmwatch:engine:kv_cache_usage_ratio:max{<models>} > <threshold>",
    hold="10m",
    keep_firing="5m",
    summary="KV cache of {{ $labels.model_name }} on {{ $labels.server }} is nearly full",
    description=(
        "{{ $value | humanizePercentage }} of the KV cache of engine {{ $labels.engine }} of {{ $labels.server }} "
        "are in use."
    ),
    board=Board.SERVER,
    cases=(
        fires(
            "above the threshold for ten minutes",
            of_engine(_USAGE, then(steady(0.5, "5m"), steady(0.92, "20m"))),
            at("14m"),
            at("17m", _ENGINE_0),
        ),
        quiet("at the threshold, not above it", of_engine(_USAGE, steady(0.9, "1h")), at("30m"), at("1h")),
        quiet("full for nine minutes", of_engine(_USAGE, then(steady(0.99, "9m"), steady(0.3, "10m"))), at("12m")),
        messy(
            "of four engines one is full; scraped twice, not a number, and away for a while",
            of_engine(_USAGE, then(steady(0.95, "20m"), missing("3m"), steady(0.95, "20m"))),
            of_engine(_USAGE, steady(0.95, "43m"), job="again"),
            of_engine(_USAGE, steady(0.1, "43m"), engine="1"),
            of_engine(_USAGE, not_a_number("43m"), engine="2"),
            of_engine(_USAGE, missing("43m"), engine="3"),
            at("15m", _ENGINE_0),
            at("40m", _ENGINE_0),
        ),
    ),
)
