"""Prometheus has no Alertmanager.

## What it means

For ten minutes Prometheus knew of no Alertmanager to send alerts to.

## Why it matters

Alerts fire, and nobody is told.

## First look

- `curl -s localhost:9090/api/v1/alertmanagers`: those that Prometheus sends to.
- The section `alerting` of prometheus.yml, and whether its names resolve.

## What to do

Mend the section, or start Alertmanager, and try it with `vllmwatch alerts test`.

## When it lies

Prometheus cannot send this alert either: see it on the board, on Prometheus' page, or by the silence of `Watchdog`. It
needs Prometheus' own page (`/metrics`) among its targets.
"""

from vllmwatch.catalog.recordings.stories.words import series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, steady, then

_KNOWN = "prometheus_notifications_alertmanagers_discovered"

ALERT = Alert(
    name="PrometheusNotConnected",
    theme="watchers",
    subject=Subject.STACK,
    severity=Severity.TICKET,
    expression="max(prometheus_notifications_alertmanagers_discovered) == 0",
    hold="10m",
    summary="Prometheus knows of no Alertmanager",
    description="Prometheus knows of {{ $value }} Alertmanagers.",
    board=Board.WATCHERS,
    cases=(
        fires("none", series(_KNOWN, then(steady(1, "5m"), steady(0, "30m"))), at("14m"), at("16m", {})),
        quiet("one", series(_KNOWN, steady(1, "40m")), at("30m")),
        messy(
            "one of two Prometheis has one",
            series(_KNOWN, steady(0, "40m")),
            series(_KNOWN, steady(1, "40m"), job="b"),
            at("30m"),
        ),
    ),
)
