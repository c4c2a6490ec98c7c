"""So many requests to a model fail that its objective of availability will soon be missed.

## What it means

By its objective 99.9 % of a model's requests (`availability_objective_ratio`) are to end without an error of the server
over 30 days; the other 0.1 % are its budget. Either the last hour and the last five minutes used it 14.4 times as fast
as it lasts (more than 1.4 % failed, at least 10), or the last six hours and the last half hour 6 times as fast (more
than 0.6 %, at least 20). Requests that failed in the engine and HTTP requests answered with 5xx are each taken as a
share, and the greater counts; refusals for a full queue are none.

## Why it matters

It sees what no single server shows: a few errors at each of many, or one server of many that fails all it gets. At this
speed the budget of a month is gone in two days, or in five.

## First look

- `vllmwatch:server:http_errors:ratio_rate5m` and `vllmwatch:server:requests_failed:ratio_rate5m`: which servers?
- `docker logs NAME 2>&1 | grep -iE "error|traceback"`, or `journalctl -u UNIT`, of the one with the most.
- `vllmwatch:server:restarts:increase1h`: does one start again and again?
- Since when? Compare with your last deploy.

## What to do

1. One server: take it out of the load balancer, keep its log, start it anew.
2. All, since a deploy: roll back.
3. All, since a client: find what it asks, and stop it for now.

## When it lies

A server that is down refuses connections, which nobody counts: `VllmServerDown` tells of it. What a load balancer
answers in its place is not counted here either. A model that is asked little has used up its budget with ten errors.
"""

from vllmwatch.catalog.alerts.errors._series import OF_MODEL, answered, ended, known
from vllmwatch.catalog.error_budget import burning
from vllmwatch.catalog.thresholds import AVAILABILITY_OBJECTIVE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, steady, then

# An hour later these have left the window of an hour, and keep the share of six hours small.
_MANY_GOOD = (10.0, "14m")

ALERT = Alert(
    name="AvailabilityBudgetBurning",
    theme="errors",
    subject=Subject.MODEL,
    severity=Severity.PAGE,
    threshold=AVAILABILITY_OBJECTIVE.key,
    expression=burning(
        "vllmwatch:model:requests_in_error:ratio_increase",
        "vllmwatch:model:requests_in_error:increase",
        least_1h=10,
        least_6h=20,
    ),
    hold="2m",
    summary="Requests to {{ $labels.model_name }} fail",
    description=(
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} in the last hour, or the last "
        "six, ended in an error of the server; its objective will be missed."
    ),
    board=Board.FLEET,
    # One server that is down, and perhaps silenced as such, must not mute what users of all the others feel.
    causes=("ModelWithoutServer", "VllmHttpErrorsHigh", "VllmRequestErrorsHigh"),
    cases=(
        fires(
            "3 % of an hour's answers are errors, after many that were not; quiet when five minutes are good",
            *known("114m"),
            answered("2xx", flowing(_MANY_GOOD, (0.13, "100m"))),
            answered("5xx", flowing((0, "14m"), (0.004, "80m"), (0, "20m"), begin=3)),
            at("40m"),
            at("80m", OF_MODEL),
            at("104m"),
        ),
        fires(
            "1 % break off in the engine, as soon as these are twenty; quiet when half an hour is good",
            ended("stop", flowing((1, "61m"), (0.1, "49m"))),
            ended("error", flowing((0.01, "61m"), (0, "49m"), begin=3)),
            at("28m"),
            at("36m"),
            at("55m", OF_MODEL),
            at("105m"),
        ),
        quiet(
            "1.2 % of the hour, and few of six; all of seven; 0.5 % for long",
            ended("stop", flowing(_MANY_GOOD, (0.3, "80m")), model_name="fewer"),
            ended("error", flowing((0, "14m"), (0.0036, "80m"), begin=3), model_name="fewer"),
            ended("stop", flowing(_MANY_GOOD, (0, "80m")), model_name="seven"),
            ended("error", flowing((0, "14m"), (0.002, "80m"), begin=3), model_name="seven"),
            ended("stop", rising(1, "94m"), model_name="slower"),
            ended("error", rising(0.005, "94m", begin=3), model_name="slower"),
            at("80m"),
            at("92m"),
        ),
        messy(
            "no traffic; one error; seven scraped twice; a restart; and of two servers one that fails now and then",
            ended("stop", steady(9, "94m"), model_name="idle"),
            ended("error", then(missing("70m"), steady(1, "24m")), model_name="one"),
            ended("stop", flowing(_MANY_GOOD, (0, "80m")), model_name="twice"),
            ended("error", flowing((0, "14m"), (0.002, "80m"), begin=3), model_name="twice"),
            ended("error", flowing((0, "14m"), (0.002, "80m"), begin=3), model_name="twice", job="again"),
            ended("stop", then(rising(1, "50m", begin=9000), rising(1, "44m")), model_name="restarted"),
            ended("error", then(steady(50, "50m"), steady(0, "44m")), model_name="restarted"),
            *known("94m", "box:1", "two"),
            *known("94m", "box:2", "two"),
            answered("2xx", rising(0.5, "94m"), "box:1"),
            answered("2xx", rising(0.1, "94m"), "box:2"),
            answered("5xx", rising(0.02, "94m", begin=3), "box:2"),
            at("75m", {"model_name": "two"}),
            at("90m", {"model_name": "two"}),
        ),
    ),
)
