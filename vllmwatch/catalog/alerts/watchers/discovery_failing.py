"""Something keeps servers from being found.

## What it means

For half an hour the exporter met faults while it looked for servers: a file of targets that cannot be read, two servers
of one name, a server whose network is closed to it.

## Why it matters

A server that is not found is not watched.

## First look

- `curl -s HOST:9836/debug/last | jq .discovery_problems`: each in one line, with what to do.
- The log of the exporter.

## What to do

Do what the lines say. A broken file of targets keeps its last good list until it is mended.

## When it lies

A server that listens on a Unix socket alone, or speaks gRPC alone, has no page; name another way to it or silence this.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_PROBLEMS = "vllmwatch_discovery_problems"
_WHO = {"node": NODE}

ALERT = Alert(
    name="DiscoveryFailing",
    theme="watchers",
    subject=Subject.NODE,
    severity=Severity.TICKET,
    expression="max by (node) (vllmwatch_discovery_problems) > 0",
    hold="30m",
    summary="The exporter on {{ $labels.node }} cannot find all servers",
    description="Discovery on {{ $labels.node }} has {{ $value }} problems.",
    board=Board.WATCHERS,
    cases=(
        fires("for half an hour", series(_PROBLEMS, steady(2, "1h"), node=NODE), at("29m"), at("32m", _WHO)),
        quiet("none", series(_PROBLEMS, steady(0, "1h"), node=NODE), at("50m")),
        messy(
            "one of two hosts; scraped twice, and a page is missing",
            series(_PROBLEMS, then(steady(1, "20m"), missing("1m"), steady(1, "40m")), node=NODE),
            series(_PROBLEMS, steady(1, "1h"), node=NODE, job="again"),
            series(_PROBLEMS, steady(0, "1h"), node="other"),
            at("55m", _WHO),
        ),
    ),
)
