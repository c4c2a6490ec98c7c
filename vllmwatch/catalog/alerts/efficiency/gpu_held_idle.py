"""A server held GPUs for a day and served nothing.

## What it means

For 24 hours the server had its GPUs, and no request ran on it and no token went in or out. A night without work is
shorter.

## Why it matters

A GPU that waits draws a quarter of its power or so, costs its full price, and is not there for others.

## First look

- `vllmwatch:server:unused_gpus:sum30m`: how many GPUs, shared ones in part.
- `vllmwatch:server:unused_gpus:sum30m * on (node) group_left () max by (node) (vllmwatch_price_per_gpu_hour)`: what it
  costs an hour, where the setting `price_per_gpu_hour` says what a GPU does.
- `vllmwatch:model:requests_finished:rate5m`: is the model served by others, or asked for by nobody?

## What to do

1. Nobody needs the model: stop the server.
2. Others serve it: is this one in the load balancer at all? If so, run fewer servers of this model.
3. It is asked for now and then: where vLLM is started with `--enable-sleep-mode`, put it to sleep, which frees the
   memory for others on the same GPU.

## When it lies

A spare that is kept warm on purpose, and a server that is used on working days alone, look the same; set a silence for
them, or the severity `none`. A batch that runs once a day starts the time anew.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, carried, of_engine, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then
from vllmwatch.spec.story import Series

_COUNTERS = ("vllm:prompt_tokens_total", "vllm:generation_tokens_total")
_TIME = "26h"


def _server(*engines: str, server: str = SERVER) -> tuple[Series, ...]:
    """Return a server with a GPU for each engine, whose counters are as given, and where no request runs."""
    return (
        target(steady(1, _TIME), server),
        *(
            series
            for number, counter in enumerate(engines)
            for series in (
                carried(steady(1, _TIME), f"{server}-{number}", server, str(number)),
                of_engine("vllm:num_requests_running", steady(0, _TIME), str(number), server),
                *(of_engine(name, counter, str(number), server) for name in _COUNTERS),
            )
        ),
    )


_IDLE = {"node": NODE, "server": SERVER, "model_name": MODEL}

ALERT = Alert(
    name="GpuHeldIdle",
    theme="efficiency",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    expression="vllmwatch:server:unused_gpus:sum30m",
    hold="24h",
    summary="{{ $labels.server }} holds GPUs for {{ $labels.model_name }} and serves nothing",
    description="{{ $labels.server }} has held {{ $value | humanize }} GPUs for a day and served nothing.",
    board=Board.COST,
    cases=(
        fires(
            "nothing was served for more than a day",
            *_server(steady(4000, _TIME)),
            at("24h20m"),
            at("25h", _IDLE),
        ),
        quiet(
            "an office that goes home at six and comes back at eight, and then for another night",
            *_server(then(rising(3, "1h"), steady(10800, "14h"), rising(3, "1h", 10800), steady(21600, "10h"))),
            at("14h"),
            at("25h"),
        ),
        messy(
            "scraped twice, away for a minute; of another server's two engines one is in use",
            *_server(then(steady(4000, "6h"), missing("1m"), steady(4000, "20h"))),
            of_engine(_COUNTERS[0], steady(4000, _TIME), job="again"),
            *_server(steady(1, _TIME), rising(0.5, _TIME), server="box:8001"),
            at("25h", _IDLE),
        ),
    ),
)
