"""The KV cache of a server fills so fast that it is full within a quarter of an hour.

## What it means

For five minutes more than 80 % of the KV cache of an engine was in use and more than three minutes before, and at the
speed of the last ten minutes it is full in less than 15 minutes. The value is that time, of the engine that is full
first.

## Why it matters

It is the time that there is to act before requests wait and are put back. Where nothing can be done in that time, it
says which of the servers to look at first when `KvCacheExhausted` comes.

## First look

- `vllmwatch:server:kv_cache_exhaustion_seconds:slope10m`: how long, and for how many servers of the model?
- `vllmwatch:server:requests_running:sum`: more requests, or longer ones?
- `vllmwatch:model:kv_cache_headroom_tokens:now`: the room in all servers of the model, in tokens.

## What to do

1. More requests: start another server of the model now.
2. The same requests, and longer: find who sends long prompts, or lets answers run on without `max_tokens`.
3. One server of several: look at how the load balancer spreads requests.

## When it lies

It continues a line, and the load does not: caches that fill in the morning stop filling when as many requests end as
come. A queue that starts makes it true.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, not_a_number, quiet, rising, steady, then

_USAGE = "vllm:kv_cache_usage_perc"
_SERVER = {"node": NODE, "server": SERVER, "model_name": MODEL}
# The whole cache in 50 minutes, and in 100.
_FAST, _SLOW = 1 / 3000, 1 / 6000

ALERT = Alert(
    name="KvCacheExhaustionSoon",
    theme="saturation",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    expression=(
        "min by (node, server, model_name) (\n"
        "vllmwatch:engine:kv_cache_exhaustion_seconds:slope10m < 900\n"
        "and vllmwatch:engine:kv_cache_usage_ratio:max > 0.8\n"
        # A cache that filled at one stroke has a slope for ten minutes, and stands still.
        "and vllmwatch:engine:kv_cache_usage_ratio:max > (vllmwatch:engine:kv_cache_usage_ratio:max offset 3m)\n"
        ")"
    ),
    hold="5m",
    keep_firing="5m",
    summary="KV cache of {{ $labels.model_name }} on {{ $labels.server }} is soon full",
    description=(
        "The KV cache of an engine of {{ $labels.server }} is full in {{ $value | humanizeDuration }} if it goes on "
        "filling as in the last 10 minutes."
    ),
    board=Board.SERVER,
    causes=("KvCacheExhausted", "ModelWithoutServer", "VllmServerDown"),
    cases=(
        fires(
            "it fills from 0.5 on by a fiftieth a minute",
            of_engine(_USAGE, then(rising(_FAST, "24m", begin=0.5), steady(0.97, "30m"))),
            at("18m"),
            at("23m", _SERVER),
            at("50m"),
        ),
        quiet(
            "half as fast, and sixteen minutes are left; as fast, up to 0.79; slowly, at 0.4; for four minutes",
            of_engine(_USAGE, then(rising(_SLOW, "30m", begin=0.53), steady(0.83, "20m")), server="box:1"),
            of_engine(_USAGE, then(rising(_FAST, "14m", begin=0.5), steady(0.79, "36m")), server="box:2"),
            of_engine(_USAGE, then(rising(_FAST, "17m", begin=0.1), steady(0.4, "33m")), server="box:3"),
            of_engine(
                _USAGE, then(steady(0.78, "10m"), rising(_FAST, "4m", begin=0.78), steady(0.5, "36m")), server="x"
            ),
            *(at(time) for time in ("14m", "15m", "18m", "22m", "26m", "30m", "34m")),
        ),
        quiet(
            "it fills to 0.95 within a minute, and no further",
            of_engine(_USAGE, then(steady(0.6, "15m"), steady(0.95, "30m"))),
            *(at(time) for time in ("16m", "19m", "21m", "23m", "25m", "28m")),
        ),
        messy(
            "of four engines one fills, one empties, one has no numbers; one that starts is full of what it computes",
            of_engine(_USAGE, rising(_FAST, "24m", begin=0.5)),
            of_engine(_USAGE, rising(_FAST, "24m", begin=0.5), job="again"),
            of_engine(_USAGE, rising(-_FAST, "24m", begin=0.95), engine="1"),
            of_engine(_USAGE, not_a_number("24m"), engine="2"),
            of_engine(_USAGE, then(steady(0, "12m"), steady(0.78, "12m")), engine="3", server="box:8001"),
            at("18m"),
            at("23m", _SERVER),
        ),
    ),
)
