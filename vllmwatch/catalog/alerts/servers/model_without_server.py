"""Not one of the servers of a model answers.

## What it means

A model has several servers, and for two minutes none of them gave its metrics; one that loads is given half an hour.
This one alert comes in place of one for each server.

## Why it matters

Nobody can use the model.

## First look

- `vllmwatch_target_error`: do all have one reason? `timeout` of all is the network, `refused` of all a deploy.
- `curl -s 127.0.0.1:9836/debug/last` on each host.
- What changed: an image, a driver, a model folder that all of them read.

## What to do

1. Undo what changed last.
2. Otherwise take one server and do what the runbook of `VllmServerDown` says.

## When it lies

The model was taken out of service on purpose. Servers behind a network that the exporter cannot reach look the same.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, of_server, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_UP = "vllmwatch_target_up"
_ERROR = "vllmwatch_target_error"
_A, _B = "box:8000", "box:8001"
_WHO = {"model_name": MODEL}

ALERT = Alert(
    name="ModelWithoutServer",
    theme="servers",
    subject=Subject.MODEL,
    severity=Severity.PAGE,
    expression=(
        "count by (model_name) (\n"
        "vllmwatch:server:last_up_timestamp_seconds:last6h and on (node, server) vllmwatch_target_up\n"
        ") > 1\n"
        "unless on (model_name) count by (model_name) (\n"
        "vllmwatch:server:last_up_timestamp_seconds:last6h and on (node, server) (vllmwatch_target_up == 1)\n"
        "or vllmwatch:server:last_up_timestamp_seconds:last6h > time() - 1800\n"
        'and on (node, server) (vllmwatch_target_error{reason="loading"} == 1)\n'
        ")"
    ),
    hold="2m",
    keep_firing="2m",
    summary="No server of {{ $labels.model_name }} is up",
    description="All {{ $value }} servers of {{ $labels.model_name }} are down.",
    board=Board.FLEET,
    cases=(
        fires(
            "both servers go, one after the other",
            target(steady(1, "40m"), server=_A),
            target(steady(1, "40m"), server=_B),
            of_server(_UP, then(steady(1, "10m"), steady(0, "30m")), server=_A),
            of_server(_UP, then(steady(1, "20m"), steady(0, "20m")), server=_B),
            at("19m"),
            at("21m"),
            at("24m", _WHO),
        ),
        quiet(
            "the only server of a model is down, which VllmServerDown tells",
            target(steady(1, "40m"), server=_A),
            of_server(_UP, then(steady(1, "10m"), steady(0, "30m")), server=_A),
            at("30m"),
        ),
        quiet(
            "one is down and the other loads",
            target(steady(1, "40m"), server=_A),
            target(steady(1, "40m"), server=_B),
            of_server(_UP, then(steady(1, "5m"), steady(0, "35m")), server=_A),
            of_server(_UP, then(steady(1, "5m"), steady(0, "35m")), server=_B),
            of_server(_ERROR, steady(1, "40m"), server=_B, reason="loading"),
            at("34m"),
        ),
        fires(
            "one is down and the other loads for more than half an hour",
            target(steady(1, "50m"), server=_A),
            target(steady(1, "50m"), server=_B),
            of_server(_UP, then(steady(1, "5m"), steady(0, "45m")), server=_A),
            of_server(_UP, then(steady(1, "5m"), steady(0, "45m")), server=_B),
            of_server(_ERROR, steady(1, "50m"), server=_B, reason="loading"),
            at("40m", _WHO),
        ),
        quiet(
            "two servers became one, which is down, and VllmServerDown tells",
            target(then(steady(1, "5m"), "stale"), server=_A),
            target(steady(1, "40m"), server=_B),
            of_server(_UP, then(steady(1, "5m"), "stale"), server=_A),
            of_server(_UP, then(steady(1, "10m"), steady(0, "30m")), server=_B),
            at("20m"),
            at("35m"),
        ),
        messy(
            "another model is well; scraped twice; the page of one is away for a while",
            target(steady(1, "40m"), server=_A),
            target(steady(1, "40m"), server=_A, job="again"),
            target(steady(1, "40m"), server=_B),
            target(steady(1, "40m"), server="box:8002", model_name="other"),
            target(steady(1, "40m"), server="box:8003", model_name="other"),
            of_server(_UP, then(steady(1, "2m"), steady(0, "38m")), server=_A),
            of_server(_UP, then(steady(1, "2m"), steady(0, "38m")), server=_A, job="again"),
            of_server(_UP, then(steady(1, "10m"), missing("2m"), steady(0, "28m")), server=_B),
            of_server(_UP, steady(1, "40m"), server="box:8002"),
            of_server(_UP, steady(0, "40m"), server="box:8003"),
            at("9m"),
            at("20m", _WHO),
        ),
    ),
)
