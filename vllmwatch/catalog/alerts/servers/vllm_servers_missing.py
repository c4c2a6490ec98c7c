"""A host that had servers has none that are watched.

## What it means

The exporter of a host answers, and for five minutes has known of not one server, though one was up within the last day.
It remembers a server that died for an hour, so either this is a later word than `VllmServerDown`, or discovery no
longer finds what runs.

## Why it matters

While no server is known, every other alert about the servers of this host is silent.

## First look

- `curl -s 127.0.0.1:9836/debug/last`: `discovery_problems` says what kept servers from being found.
- `vllmwatch config`: are `targets`, `target_files` and `discover` as they should be?
- `ps aux | grep -i vllm` on the host, as root: what runs.

## What to do

1. Nothing runs and something should: start it.
2. Something runs and is not found: run the exporter as root (containers of other users), or name the servers in
   `targets`.
3. The host is to have none any more: `vllmwatch silence node=NAME --for 1d --comment "emptied"`. A silence of one
   `server` does not silence this.

## When it lies

The host was emptied on purpose, or its file of targets was, as for a night in which nothing is to run.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, of_server, series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_UP = "vllmwatch_target_up"
_WHO = {"node": NODE}
_EXPORTER = series("vllmwatch_build_info", steady(1, "3h"), node=NODE, version="1", python_version="3")

ALERT = Alert(
    name="VllmServersMissing",
    theme="servers",
    subject=Subject.NODE,
    severity=Severity.PAGE,
    expression=(
        "count by (node) (max by (node, server) (max_over_time(vllmwatch_target_up[1d])) == 1)\n"
        "and on (node) max by (node) (vllmwatch_build_info)\n"
        "unless on (node) count by (node) (vllmwatch_target_up)"
    ),
    hold="5m",
    summary="{{ $labels.node }} has no vLLM server any more",
    description=(
        "{{ $value }} servers of {{ $labels.node }} were up within a day, and the exporter knows of none now."
    ),
    board=Board.FLEET,
    cases=(
        fires(
            "the last server leaves the page",
            _EXPORTER,
            of_server(_UP, then(steady(1, "30m"), steady(0, "1h"), "stale", missing("90m"))),
            at("80m"),
            at("91m"),
            at("100m", _WHO),
        ),
        quiet(
            "a server is down and on the page",
            _EXPORTER,
            of_server(_UP, then(steady(1, "30m"), steady(0, "150m"))),
            at("2h"),
        ),
        quiet(
            "there never was one",
            _EXPORTER,
            of_server(_UP, steady(0, "1h"), server="box:8001"),
            at("2h"),
        ),
        messy(
            "one of two servers stays; the exporter itself is away for a while",
            series(
                "vllmwatch_build_info",
                then(steady(1, "1h"), missing("20m"), steady(1, "100m")),
                node=NODE,
                version="1",
                python_version="3",
            ),
            of_server(_UP, then(steady(1, "30m"), "stale", missing("150m"))),
            of_server(
                _UP, then(steady(1, "1h"), missing("20m"), steady(1, "40m"), "stale", missing("1h")), server="box:8001"
            ),
            at("59m"),
            at("75m"),
            at("119m"),
            at("140m", _WHO),
        ),
    ),
)
