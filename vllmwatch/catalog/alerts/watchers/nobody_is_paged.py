"""No receiver of pages is configured, so nobody is woken whatever happens.

## What it means

For half an hour not one exporter was told of a receiver: the settings `receivers` and `page_to` are empty. The
configuration of Alertmanager that is written from them sends pages nowhere.

## Why it matters

Every other alert fires into the void. You see this one only since you looked.

## First look

- `vllmwatch config`: are `receivers` and `page_to` as they should be?
- `vllmwatch alerts test`: does a page arrive?

## What to do

1. Name a receiver in the settings (`receivers`, and its name in `page_to`), and write the configuration anew with
   `vllmwatch rules --output FOLDER`.
2. Send a test: `vllmwatch alerts test`.

## When it lies

You have an Alertmanager of your own, whose routes vllmwatch does not know: set `severities: {NobodyIsPaged: none}`.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_RECEIVERS = "vllmwatch_page_receivers"

ALERT = Alert(
    name="NobodyIsPaged",
    theme="watchers",
    subject=Subject.STACK,
    severity=Severity.TICKET,
    expression="max (vllmwatch_page_receivers) == 0",
    hold="30m",
    summary="Pages of the fleet reach nobody: no receiver is configured",
    description="Pages go to {{ $value }} receivers.",
    board=Board.WATCHERS,
    cases=(
        fires(
            "two hosts know of none",
            series(_RECEIVERS, steady(0, "1h"), node=NODE),
            series(_RECEIVERS, steady(0, "1h"), node="other"),
            at("29m"),
            at("32m", {}),
        ),
        quiet(
            "one host of two knows of one",
            series(_RECEIVERS, steady(0, "1h"), node=NODE),
            series(_RECEIVERS, steady(1, "1h"), node="other"),
            at("50m"),
        ),
        messy(
            "scraped twice, and a page is missing; after half an hour one is configured",
            series(_RECEIVERS, then(steady(0, "20m"), missing("1m"), steady(0, "19m"), steady(2, "20m")), node=NODE),
            series(_RECEIVERS, then(steady(0, "40m"), steady(2, "20m")), node=NODE, job="again"),
            at("39m", {}),
            at("50m"),
        ),
    ),
)
