"""A configuration was refused, and an older one is in force.

## What it means

The exporter was told to read its configuration again and could not use it. The old one stays in force.

## Why it matters

What somebody meant to change is not changed, and at the next start the exporter will not start at all.

## First look

- The log of the exporter: file, line, what is wrong, what would do.
- `vllmwatch config` on the host says the same.

## What to do

Mend the line and send SIGHUP again.

## When it lies

It does not.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, steady, then

_RELOADED = "vllmwatch_config_last_reload_successful"
_WHO = {"node": NODE}

ALERT = Alert(
    name="ConfigReloadFailed",
    theme="watchers",
    subject=Subject.NODE,
    severity=Severity.TICKET,
    expression="max by (node) (vllmwatch_config_last_reload_successful) == 0",
    hold="10m",
    summary="The exporter on {{ $labels.node }} refused its new configuration",
    description="The last configuration of the exporter on {{ $labels.node }} was not taken ({{ $value }}).",
    board=Board.WATCHERS,
    cases=(
        fires(
            "refused", series(_RELOADED, then(steady(1, "5m"), steady(0, "30m")), node=NODE), at("14m"), at("16m", _WHO)
        ),
        quiet(
            "mended within nine minutes",
            series(_RELOADED, then(steady(0, "9m"), steady(1, "30m")), node=NODE),
            at("8m"),
            at("30m"),
        ),
        messy(
            "one of two hosts, scraped twice",
            series(_RELOADED, steady(0, "40m"), node=NODE),
            series(_RELOADED, steady(0, "40m"), node=NODE, job="again"),
            series(_RELOADED, steady(1, "40m"), node="other"),
            at("30m", _WHO),
        ),
    ),
)
