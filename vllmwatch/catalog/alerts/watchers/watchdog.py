"""Everything is well with the way of an alert; this one is always on.

## What it means

It fires as long as Prometheus evaluates rules and Alertmanager takes alerts. It is sent to the receiver of
`heartbeat_to` every minute, and to nobody else.

## Why it matters

When Prometheus, Alertmanager or the network is dead, no other alert can say so. The receiver that no longer gets this
one notices.

## First look

- `vllmwatch alerts`: is it on?
- `curl -s localhost:9090/-/ready` and `curl -s localhost:9093/-/ready`.
- The logs of Prometheus and Alertmanager, and whether this host reaches the receiver.

## What to do

1. Set `heartbeat_to` to a receiver that tells somebody when beats stop (a service for dead man's switches).
2. It stopped: start what is not ready, then `vllmwatch alerts test`.

## When it lies

It says nothing about whether pages reach people; `vllmwatch alerts test` does.
"""

from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires

ALERT = Alert(
    name="Watchdog",
    theme="watchers",
    subject=Subject.STACK,
    severity=Severity.NONE,
    expression="vector(1)",
    hold="0s",
    summary="Rules are evaluated and alerts are taken",
    description="This alert is always on; whoever gets it is to tell somebody when it stops.",
    board=Board.WATCHERS,
    cases=(fires("it is always on", at("1m", {}), at("1h", {})),),
)
