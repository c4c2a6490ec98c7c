"""Alertmanager cannot deliver its messages.

## What it means

More than one in a hundred messages of one integration failed for ten minutes: wrong secrets, a limit of the receiver,
no route to it.

## Why it matters

Pages do not arrive.

## First look

- The log of Alertmanager: `Notify for alerts failed`, with the answer of the other side.
- `vllmwatch alerts test RECEIVER`.

## What to do

1. 401, 403: the file with the secret. Is it mounted, and without a line break too many?
2. 429: a limit of the other side; fewer messages (`repeat_interval`), or another receiver beside it.
3. Time-outs: the network from this host to the receiver, or a proxy between them.

## When it lies

It goes the way that is broken, unless there is another receiver. It needs Alertmanager's page among the targets of
Prometheus.
"""

from vllmwatch.catalog.recordings.stories.words import series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, rising, steady

_ALL = "alertmanager_notification_requests_total"
_FAILED = "alertmanager_notification_requests_failed_total"
_WHO = {"integration": "slack"}

ALERT = Alert(
    name="NotificationsFailing",
    theme="watchers",
    subject=Subject.STACK,
    own_labels=("integration",),
    severity=Severity.TICKET,
    expression=(
        "sum by (integration) (rate(alertmanager_notification_requests_failed_total[10m]))\n"
        "/ (sum by (integration) (rate(alertmanager_notification_requests_total[10m])) > 0)\n"
        "> 0.01"
    ),
    hold="10m",
    summary="Alertmanager cannot deliver to {{ $labels.integration }}",
    description="{{ $value | humanizePercentage }} of the messages to {{ $labels.integration }} fail.",
    board=Board.WATCHERS,
    cases=(
        fires(
            "every second one fails",
            series(_ALL, rising(0.02, "1h"), integration="slack"),
            series(_FAILED, rising(0.01, "1h"), integration="slack"),
            at("9m"),
            at("15m", _WHO),
        ),
        fires(
            "two in a hundred fail",
            series(_ALL, rising(2, "1h"), integration="slack"),
            series(_FAILED, rising(0.04, "1h"), integration="slack"),
            at("30m", _WHO),
        ),
        quiet(
            "one in two hundred fails",
            series(_ALL, rising(2, "1h"), integration="slack"),
            series(_FAILED, rising(0.01, "1h"), integration="slack"),
            at("50m"),
        ),
        quiet(
            "nothing is sent",
            series(_ALL, steady(5, "1h"), integration="slack"),
            series(_FAILED, steady(5, "1h"), integration="slack"),
            at("50m"),
        ),
        messy(
            "one of two integrations; two Alertmanagers; one begins anew",
            series(_ALL, rising(0.02, "1h"), integration="slack"),
            series(_FAILED, rising(0.02, "1h"), integration="slack"),
            series(_ALL, rising(0.02, "1h", 900), integration="slack", instance="b"),
            series(_FAILED, rising(0.02, "1h", 900), integration="slack", instance="b"),
            series(_ALL, rising(0.02, "1h"), integration="email"),
            at("50m", _WHO),
        ),
    ),
)
