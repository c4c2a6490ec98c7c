"""A server takes long to give its page.

## What it means

For ten minutes the page of this server took more than five seconds, of the ten that a target has by default.

## Why it matters

vLLM serves its page from the process that serves requests. When that is overloaded the page is slow, and the moment at
which it matters most is the one at which it is lost: the server then looks down.

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

from vllmwatch.catalog.recordings.stories.words import NODE, SERVER, of_server
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_TOOK = "vllmwatch_target_scrape_duration_seconds"
_WHO = {"node": NODE, "server": SERVER, "model_name": ""}

ALERT = Alert(
    name="TargetScrapeSlow",
    theme="watchers",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    expression="max by (node, server) (vllmwatch_target_scrape_duration_seconds) > 5",
    hold="10m",
    keep_firing="5m",
    summary="The page of {{ $labels.server }} takes long",
    description="The page of {{ $labels.server }} takes {{ $value | humanizeDuration }}.",
    board=Board.WATCHERS,
    causes=("VllmServerDown",),
    cases=(
        fires(
            "eight seconds for ten minutes",
            of_server(_TOOK, then(steady(0.1, "5m"), steady(8, "30m"))),
            at("14m"),
            at("16m", _WHO),
        ),
        quiet("four seconds", of_server(_TOOK, steady(4, "40m")), at("30m")),
        messy(
            "scraped twice; another server is quick; a page is missing now and then",
            of_server(_TOOK, then(steady(9, "20m"), missing("1m"), steady(9, "20m"))),
            of_server(_TOOK, steady(9, "41m"), job="again"),
            of_server(_TOOK, steady(0.01, "41m"), server="box:8001"),
            at("35m", _WHO),
        ),
    ),
)
