"""The exporter of a host is gone.

## What it means

For five minutes the exporter of this host gave Prometheus no metrics, and it did within the last six hours.

## Why it matters

Nothing is known of the host's GPUs and servers: their alerts are silent, whatever happens.

## First look

- `up{job="vllmwatch"}`: can Prometheus reach it?
- On the host: `systemctl status vllmwatch`, or `docker ps -a`, and its log.
- `curl -s HOST:9836/healthz`, and `curl -m 20 -s HOST:9836/metrics | head`: does the answer take longer than Prometheus
  waits?

## What to do

1. The host is down: everything else follows from that.
2. The exporter is dead: start it; its last lines say why.
3. It is alive and slow: `vllmwatch_target_scrape_duration_seconds` shows which target holds it up; lower
   `scrape_timeout_seconds`.
4. The host was taken away: silence it for six hours.

## When it lies

The host was taken out of service on purpose, or was given another name (`node`). After six hours the host is forgotten,
and the alert ends though nothing was mended.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_INFO = "vllmwatch_build_info"
_WHO = {"node": NODE}


ALERT = Alert(
    name="ExporterDown",
    theme="watchers",
    subject=Subject.NODE,
    severity=Severity.PAGE,
    expression=(
        "time() - max by (node) (max_over_time(timestamp(vllmwatch_build_info)[6h:1m]))\n"
        "unless on (node) max by (node) (vllmwatch_build_info)"
    ),
    hold="5m",
    summary="Nothing is heard of the exporter on {{ $labels.node }}",
    description="The exporter on {{ $labels.node }} last answered {{ $value | humanizeDuration }} ago.",
    board=Board.WATCHERS,
    cases=(
        fires(
            "its page stays away",
            series(_INFO, then(steady(1, "30m"), "stale", missing("90m")), node=NODE, version="1", python_version="3"),
            at("34m"),
            at("37m", _WHO),
            at("110m", _WHO),
        ),
        quiet(
            "away for four minutes, and back with another version",
            series(_INFO, then(steady(1, "30m"), "stale"), node=NODE, version="1", python_version="3"),
            series(_INFO, then(missing("34m"), steady(1, "1h")), node=NODE, version="2", python_version="3"),
            at("33m"),
            at("45m"),
        ),
        messy(
            "one of two hosts; scraped by two jobs, of which one ends",
            series(_INFO, then(steady(1, "30m"), "stale", missing("1h")), node=NODE, version="1", python_version="3"),
            series(
                _INFO,
                then(steady(1, "20m"), "stale", missing("1h")),
                node=NODE,
                version="1",
                python_version="3",
                job="b",
            ),
            series(_INFO, steady(1, "2h"), node="other", version="1", python_version="3"),
            at("28m"),
            at("50m", _WHO),
        ),
    ),
)
