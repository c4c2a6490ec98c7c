"""More than one in fifty requests of a server ends with an error within the engine.

## What it means

For three minutes more than 2 % of the requests that ended in the last ten minutes ended with
`finished_reason="error"`, and these were at least five. All engines of the server are counted together.

## Why it matters

Such an answer breaks off in the middle: the status was 200 when it began, so neither the load balancer nor counts of
HTTP errors show it. Users see half an answer.

## First look

- `vllmwatch:engine:requests_failed:ratio_rate5m{server="…"}`: one engine of several?
- `docker logs NAME 2>&1 | grep -iE "error|traceback"`, or `journalctl -u UNIT`: what does vLLM say of them?
- `vllmwatch:model:requests_failed:ratio_rate5m`: do other servers of the model fail as well? Then it is what is asked.
- With prefill and decode apart: `KvTransferFailing`.

## What to do

1. One server: take it out of the load balancer, keep its log, start it anew.
2. All, since a deploy: roll back.
3. All, since a client: find what it asks; a request that makes an engine fail is a bug to report to vLLM.
4. Blocks do not arrive from the prefill servers: mend the link, or let one server do both for now.

## When it lies

A request with several answers (`n`) counts once an answer. Five errors of a server that is hardly used are more than
2 %: they are true, but few people are hurt.
"""

from vllmwatch.catalog.alerts.errors._series import OF_SERVER, ended, known
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, steady, then

ALERT = Alert(
    name="VllmRequestErrorsHigh",
    theme="errors",
    subject=Subject.SERVER,
    severity=Severity.PAGE,
    expression=(
        "vllmwatch:server:requests_failed:ratio_increase10m > 0.02\n"
        "and vllmwatch:server:requests_failed:increase10m >= 5"
    ),
    hold="3m",
    keep_firing="5m",
    summary="Answers of {{ $labels.model_name }} on {{ $labels.server }} break off",
    description=(
        "{{ $value | humanizePercentage }} of the requests that ended at {{ $labels.server }} in the last 10 minutes "
        "ended with an error of the engine."
    ),
    board=Board.SERVER,
    causes=("GpuLost", "ModelWithoutServer", "VllmServerDown"),
    cases=(
        fires(
            "4 % fail, twelve in ten minutes",
            *known("70m"),
            ended("stop", rising(0.48, "70m", begin=900)),
            ended("error", flowing((0, "15m"), (0.02, "25m"), (0, "30m"), begin=70)),
            at("15m"),
            at("25m", OF_SERVER),
            at("65m"),
        ),
        fires(
            "nine first errors at once, whose counter comes into being with them",
            *known("50m"),
            ended("stop", rising(0.3, "50m", begin=900)),
            ended("error", then(missing("20m"), steady(9, "30m"))),
            at("21m"),
            at("26m", OF_SERVER),
            at("45m"),
        ),
        quiet(
            "1.5 % fail; 4 % fail, which are four; and for the first two minutes of many",
            ended("stop", rising(1, "40m"), server="box:1"),
            ended("error", rising(0.015, "40m"), server="box:1"),
            ended("stop", rising(0.16, "40m"), server="box:2"),
            ended("error", rising(0.0067, "40m"), server="box:2"),
            ended("stop", rising(1, "40m"), server="box:3"),
            ended("error", flowing((0, "29m"), (1, "11m")), server="box:3"),
            at("25m"),
            at("31m"),
        ),
        messy(
            "four errors scraped twice; one request; a restart after which four fail; a server that is found late",
            ended("stop", rising(0.16, "60m"), server="box:1"),
            ended("error", rising(0.0067, "60m"), server="box:1"),
            ended("error", rising(0.0067, "60m"), server="box:1", job="again"),
            *known("60m", "box:2"),
            ended("error", then(missing("20m"), steady(1, "40m")), server="box:2"),
            *known("60m", "box:3"),
            ended("stop", then(rising(1, "20m", begin=9000), missing("3m"), rising(0.1, "37m")), server="box:3"),
            ended("error", then(steady(300, "20m"), missing("3m"), steady(4, "37m")), server="box:3"),
            ended("stop", then(missing("20m"), steady(50, "40m")), server="box:4"),
            ended("error", then(missing("20m"), steady(40, "40m")), server="box:4"),
            # Of four engines one fails.
            *(ended("stop", rising(0.2, "60m"), engine=str(number)) for number in range(4)),
            *(ended("error", steady(2, "60m"), engine=str(number)) for number in range(3)),
            ended("error", rising(0.04, "60m"), engine="3"),
            at("26m", OF_SERVER),
            at("30m", OF_SERVER),
        ),
    ),
)
