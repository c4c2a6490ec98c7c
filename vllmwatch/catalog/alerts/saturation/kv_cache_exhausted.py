"""The KV cache of a server is full, and requests wait for it or are put back.

## What it means

For five minutes at least one engine of the server had more than 98 % of its KV cache in use by running requests, while
requests waited for it or it put requests back to the queue (more than one in 20 seconds). The value is the number of
such engines.

## Why it matters

A request that is put back loses its place, and its prompt and what it has answered so far are computed anew: the server
works more and gets less done. New requests wait for one of the running ones to end. It grows worse by itself while as
many requests come.

## First look

- `vllmwatch:engine:kv_cache_usage_ratio:max{server="…"}`: all engines, or one of several?
- `vllmwatch:engine:requests_waiting:max` and `vllmwatch:engine:preemptions:rate5m`: how many suffer?
- `vllmwatch:model:kv_cache_headroom_tokens:now`: have other servers of the model room?
- `docker logs NAME 2>&1 | grep -i preempt`, or `journalctl -u UNIT`: vLLM warns of it.

## What to do

1. Other servers have room: the load balancer sends this one too much; set it right.
2. None has: add a server. Until it is there, refuse some requests (`--max-num-queued-reqs`) so that the others end.
3. One client sends very long prompts: bound them (`--max-model-len`), or serve them elsewhere.
4. For good: a KV cache in fp8 (`--kv-cache-dtype fp8`), a lower `--max-num-seqs`, a higher `--gpu-memory-utilization`
   where the GPU has memory left, or more GPUs a server.

## When it lies

A batch job that keeps a queue keeps the cache full too, and nobody waits for an answer: give this alert the severity
`ticket` on that fleet. The cache is seen every 15 seconds; one that is full between two looks is not told of.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, not_a_number, quiet, rising, steady, then

_USAGE = "vllm:kv_cache_usage_perc"
_WAITING = "vllm:num_requests_waiting"
_PREEMPTIONS = "vllm:num_preemptions_total"
_SERVER = {"node": NODE, "server": SERVER, "model_name": MODEL}

ALERT = Alert(
    name="KvCacheExhausted",
    theme="saturation",
    subject=Subject.SERVER,
    severity=Severity.PAGE,
    expression=(
        "count by (node, server, model_name) (\n"
        "vllmwatch:engine:kv_cache_usage_ratio:max > 0.98\n"
        "and (vllmwatch:engine:requests_waiting:max > 0 or vllmwatch:engine:preemptions:rate5m > 0.05)\n"
        ")"
    ),
    hold="5m",
    keep_firing="5m",
    summary="KV cache of {{ $labels.model_name }} on {{ $labels.server }} is full",
    description=(
        "Requests wait for the KV cache of {{ $labels.server }} or are put back; it is full on {{ $value }} of its "
        "engines."
    ),
    board=Board.SERVER,
    causes=("ModelWithoutServer", "VllmEngineStuck", "VllmServerDown"),
    cases=(
        fires(
            "full with a queue of two",
            of_engine(_USAGE, then(steady(0.9, "5m"), steady(0.99, "20m"), steady(0.5, "20m"))),
            of_engine(_WAITING, steady(2, "45m")),
            at("9m"),
            at("14m", _SERVER),
            at("40m"),
        ),
        fires(
            "full without a queue, and a request put back every ten seconds",
            of_engine(_USAGE, steady(1, "30m")),
            of_engine(_WAITING, steady(0, "30m")),
            of_engine(_PREEMPTIONS, rising(0.1, "30m")),
            at("20m", _SERVER),
        ),
        quiet(
            "full, nobody waits, and two a minute are put back; nearly full with a queue; full for four minutes",
            of_engine(_USAGE, steady(1, "40m"), server="box:1"),
            of_engine(_WAITING, steady(0, "40m"), server="box:1"),
            of_engine(_PREEMPTIONS, rising(0.03, "40m"), server="box:1"),
            of_engine(_USAGE, steady(0.97, "40m"), server="box:2"),
            of_engine(_WAITING, steady(30, "40m"), server="box:2"),
            of_engine(_USAGE, then(steady(0.5, "15m"), steady(1, "4m"), steady(0.5, "21m")), server="box:3"),
            of_engine(_WAITING, steady(30, "40m"), server="box:3"),
            at("19m"),
            at("30m"),
        ),
        messy(
            "of four engines one is full and three are not, one has no numbers; all is scraped twice, with a gap",
            of_engine(_USAGE, then(steady(0.99, "20m"), missing("2m"), steady(0.99, "18m"))),
            of_engine(_USAGE, steady(0.99, "40m"), job="again"),
            of_engine(_WAITING, then(steady(4, "20m"), missing("2m"), steady(4, "18m"))),
            of_engine(_WAITING, steady(4, "40m"), job="again"),
            of_engine(_USAGE, steady(0.1, "40m"), engine="1"),
            of_engine(_WAITING, steady(9, "40m"), engine="1"),
            of_engine(_USAGE, not_a_number("40m"), engine="2"),
            of_engine(_WAITING, steady(9, "40m"), engine="2"),
            of_engine(_USAGE, steady(1, "40m"), engine="3"),
            of_engine(_WAITING, steady(0, "40m"), engine="3"),
            of_engine(_USAGE, steady(1, "40m"), server="box:8001"),
            at("15m", _SERVER),
            at("38m", _SERVER),
        ),
    ),
)
