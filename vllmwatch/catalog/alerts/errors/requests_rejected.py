"""More than a tenth of the requests to a model has been refused for half an hour, since queues are at their limit.

## What it means

For half an hour vLLM refused more than 10 % of the requests to the model with 503 at once, since the queue or its
tokens had reached the limit that you set (`--max-num-queued-reqs`, `--max-num-queued-tokens`), and more than three a
minute.

## Why it matters

To refuse is a policy, and does its work: those that are served are served in time. But it is meant for a peak, and half
an hour is none. A part of the users gets nothing.

## First look

- `vllmwatch:server:requests_rejected:rate5m`: all servers, or one?
- `vllmwatch:server:requests_running:sum` and `vllmwatch:server:kv_cache_usage_ratio:max`: is there room after all?
- `vllmwatch:model:requests_with_first_token:rate5m` over a week: is it growth, or somebody new?

## What to do

1. All servers: add one, or let the autoscaler do so; look at why it did not.
2. One server: the load balancer sends it too much.
3. Few run and the cache has room: the limit is too low for this model; raise it.
4. One client: ask it to wait and try again more slowly.

## When it lies

Clients that try again at once count each time, so the share is greater than that of the users. Only vLLM from 0.32 on
refuses, and its Rust front end does not count it.
"""

from vllmwatch.catalog.alerts.errors._series import OF_MODEL, answered, known, refused
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, then

ALERT = Alert(
    name="RequestsRejected",
    theme="errors",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:model:requests_rejected:rate5m / vllmwatch:model:http_requests:rate5m > 0.1\n"
        "and vllmwatch:model:requests_rejected:rate5m > 0.05"
    ),
    hold="30m",
    keep_firing="15m",
    summary="Requests to {{ $labels.model_name }} are refused for half an hour",
    description=(
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} are refused since the queues "
        "of its servers are at their limit."
    ),
    board=Board.FLEET,
    causes=("ModelWithoutServer", "VllmServerDown"),
    cases=(
        fires(
            "a fifth of thirty a minute",
            *known("90m"),
            answered("5xx", rising(0.1, "90m", begin=50)),
            answered("2xx", rising(0.4, "90m", begin=50)),
            refused(flowing((0, "10m"), (0.1, "50m"), (0, "30m"), begin=50)),
            at("39m"),
            at("45m", OF_MODEL),
            at("85m"),
        ),
        quiet(
            "8 %; a fifth of twelve a minute; a half for twenty minutes",
            *known("80m", "box:1", "fewer"),
            answered("2xx", rising(2, "80m"), "box:1"),
            refused(rising(0.16, "80m"), "box:1", "fewer"),
            *known("80m", "box:2", "twelve"),
            answered("2xx", rising(0.2, "80m"), "box:2"),
            refused(rising(0.04, "80m"), "box:2", "twelve"),
            *known("80m", "box:3", "peak"),
            answered("2xx", rising(1, "80m"), "box:3"),
            refused(flowing((0, "20m"), (0.5, "20m"), (0, "40m")), "box:3", "peak"),
            at("40m"),
            at("43m"),
            at("70m"),
        ),
        messy(
            "refusals scraped twice; a model that refuses by rule and is not asked; a restart; two servers together",
            *known("80m", "box:1", "twice"),
            answered("2xx", rising(0.2, "80m"), "box:1"),
            refused(rising(0.04, "80m"), "box:1", "twice"),
            refused(rising(0.04, "80m"), "box:1", "twice", job="again"),
            *known("80m", "box:2", "idle"),
            answered("2xx", rising(0, "80m"), "box:2"),
            refused(rising(0, "80m"), "box:2", "idle"),
            *known("80m"),
            *known("80m", "box:8001"),
            answered("2xx", rising(0.3, "80m")),
            answered("2xx", rising(0.3, "80m"), "box:8001"),
            refused(then(rising(0.2, "40m", begin=700), missing("2m"), rising(0.2, "38m"))),
            at("38m", OF_MODEL),
            at("70m", OF_MODEL),
        ),
    ),
)
