"""A server takes long to give its metrics.

## What it means

For ten minutes this server took more than five seconds to give its metrics, of the ten that it has by default.

## Why it matters

vLLM gives its metrics from the process that serves requests. When that process is overloaded they come late. After ten
seconds they are lost, and the server looks down.

## First look

- `vllmwatch_target_scrape_duration_seconds{server="…"}`: since when, and with what traffic?
- `vllmwatch_target_samples{server="…"}`: a page of many thousands of samples takes its time.
- The processor of the API server: `top -p PID`.

## What to do

1. Several API servers (`--api-server-count`), so that requests do not wait for one process.
2. A longer `scrape_timeout_seconds`, and with it `scrape_timeout` in Prometheus.

## When it lies

The network between exporter and server is slow, and the server is not.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_server, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_TOOK = "vllmwatch_target_scrape_duration_seconds"
_WHO = {"node": NODE, "server": SERVER, "model_name": MODEL}

ALERT = Alert(
    name="TargetScrapeSlow",
    theme="watchers",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:server:info:now * on (node, server) group_left ()\n"
        "max by (node, server) (vllmwatch_target_scrape_duration_seconds) > 5"
    ),
    hold="10m",
    keep_firing="5m",
    summary="The metrics page of {{ $labels.server }} ({{ $labels.model_name }}) is slow",
    description="The metrics page of {{ $labels.server }} takes {{ $value | humanizeDuration }}.",
    board=Board.WATCHERS,
    causes=("VllmServerDown",),
    cases=(
        fires(
            "eight seconds for ten minutes",
            target(steady(1, "35m")),
            of_server(_TOOK, then(steady(0.1, "5m"), steady(8, "30m"))),
            at("14m"),
            at("16m", _WHO),
        ),
        quiet("four seconds", target(steady(1, "40m")), of_server(_TOOK, steady(4, "40m")), at("30m")),
        messy(
            "scraped twice; another server is quick; a page is missing now and then",
            target(steady(1, "41m")),
            target(steady(1, "41m"), job="again"),
            target(steady(1, "41m"), server="box:8001"),
            of_server(_TOOK, then(steady(9, "20m"), missing("1m"), steady(9, "20m"))),
            of_server(_TOOK, steady(9, "41m"), job="again"),
            of_server(_TOOK, steady(0.01, "41m"), server="box:8001"),
            at("35m", _WHO),
        ),
    ),
)
