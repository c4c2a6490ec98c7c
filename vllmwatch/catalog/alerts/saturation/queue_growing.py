"""The queue of a server is longer than twice what it runs, and grows.

## What it means

For ten minutes at least 20 requests waited at the server, more than twice as many as it ran, and over the last ten
minutes their number rose.

## Why it matters

A new request waits for two rounds of all that runs, and each minute for longer. The server gets more than it can do,
and this does not end by itself.

## First look

- `vllmwatch:server:requests_waiting:sum` by server: this one alone, or all of the model?
- `vllmwatch:server:requests_waiting:slope10m * 60`: by how many a minute it grows.
- `vllmwatch:engine:kv_cache_usage_ratio:max`: what keeps it from running more, the KV cache or `--max-num-seqs`?
- `vllmwatch:server:generation_tokens:rate5m` against yesterday: does the server do less than it used to?

## What to do

1. This server alone: take load from it; if it does less than its like, look at its GPUs and start it anew.
2. All: add servers, or bound the queue (`--max-num-queued-reqs`) so that clients are told at once and can go elsewhere.
3. One client: ask it to keep fewer requests open.

## When it lies

A batch that arrives at once is a long queue, which shrinks; it is told of while it still grows. Requests that wait for
something other than room (a transfer of KV blocks, a grammar) count as well.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_WAITING = "vllm:num_requests_waiting"
_RUNNING = "vllm:num_requests_running"
_SERVER = {"node": NODE, "server": SERVER, "model_name": MODEL}

ALERT = Alert(
    name="QueueGrowing",
    theme="saturation",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:server:requests_waiting:sum > 2 * vllmwatch:server:requests_running:sum\n"
        "and vllmwatch:server:requests_waiting:sum >= 20\n"
        "and vllmwatch:server:requests_waiting:slope10m > 0"
    ),
    hold="10m",
    keep_firing="5m",
    summary="The queue of {{ $labels.server }} ({{ $labels.model_name }}) grows",
    description="{{ $value }} requests wait at {{ $labels.server }}, more than twice as many as run, and more come.",
    board=Board.SERVER,
    causes=(
        "KvCacheExhausted",
        "ModelWithoutServer",
        "VllmAsleepWithTraffic",
        "VllmEngineStuck",
        "VllmSchedulerStalled",
        "VllmServerDown",
    ),
    cases=(
        fires(
            "from none on by one in fifty seconds, while eight run",
            of_engine(_WAITING, then(rising(0.02, "33m"), rising(-0.05, "10m", begin=39), steady(9, "20m"))),
            of_engine(_RUNNING, steady(8, "63m")),
            at("25m"),
            at("29m", _SERVER),
            at("55m"),
        ),
        quiet(
            "long and steady; long and shrinking; growing, of nineteen at most; growing, less than twice what runs",
            of_engine(_WAITING, steady(90, "40m"), server="box:1"),
            of_engine(_WAITING, rising(-0.02, "40m", begin=90), server="box:2"),
            of_engine(_WAITING, rising(0.002, "40m", begin=14), server="box:3"),
            of_engine(_WAITING, rising(0.02, "40m", begin=20), server="box:4"),
            *(of_engine(_RUNNING, steady(3, "40m"), server=f"box:{number}") for number in (1, 2, 3)),
            of_engine(_RUNNING, steady(40, "40m"), server="box:4"),
            at("15m"),
            at("25m"),
            at("38m"),
        ),
        messy(
            "four engines together; a queue that is scraped twice is no longer for that; a restart in the middle",
            *(of_engine(_WAITING, rising(0.005, "40m", begin=5), engine=str(number)) for number in range(4)),
            *(of_engine(_RUNNING, steady(2, "40m"), engine=str(number)) for number in range(4)),
            of_engine(_WAITING, rising(0.002, "40m", begin=12), server="box:1"),
            of_engine(_WAITING, rising(0.002, "40m", begin=12), server="box:1", job="again"),
            of_engine(_RUNNING, steady(1, "40m"), server="box:1"),
            of_engine(_WAITING, then(rising(0.1, "4m", begin=20), missing("6m"), steady(0, "30m")), server="box:2"),
            of_engine(_RUNNING, then(steady(1, "4m"), missing("6m"), steady(1, "30m")), server="box:2"),
            at("14m", _SERVER),
            at("35m", _SERVER),
        ),
    ),
)
