"""More than a fifth of the requests to a model is given up by those who sent them.

## What it means

For a quarter of an hour more than 20 % of the requests that got a first token in the last 15 minutes neither ended nor
run: their clients went away. At least 20 did. It is an estimate, first tokens less those that ended and those that run,
since vLLM's Python front end counts requests that were given up nowhere.

## Why it matters

The work done for them is thrown away. And it hides a slow server: the times of such requests are in no latency but that
of the first token, so where all clients give up after ten seconds, the others look quick.

## First look

- `vllmwatch:server:requests_aborted_estimate:increase15m`: all servers, or one?
- `vllmwatch:model:time_to_first_token_seconds:p90_5m`, `vllmwatch:model:inter_token_latency_seconds:p99_5m`: slow?
- `docker logs NAME 2>&1 | grep -c Aborted`: with `--enable-log-requests` vLLM names each.
- What do clients and the proxies before the server have as their time limits?

## What to do

1. The server is slow: see `TimeToFirstTokenP99High` and `QueueTimeHigh`; the clients are right.
2. A time limit of a client or a proxy is shorter than an answer takes: make it longer, or bound answers (`max_tokens`).
3. A client tries again without end: ask it to wait longer each time.

## When it lies

Some clients give up on purpose: completion while a person types, or the first of several answers. If that is so with
this model always, silence this alert for it. A server that is started anew loses those that ran.
"""

from vllmwatch.catalog.alerts.errors._series import OF_MODEL, ended
from vllmwatch.catalog.recordings.stories.words import of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, quiet, rising, steady, then
from vllmwatch.spec.story import Series


def _asked(values: str, running: str, **labels: str) -> tuple[Series, Series]:
    """Return how many requests got a first token, and how many run."""
    return (
        of_engine("vllm:time_to_first_token_seconds_count", values, **labels),
        of_engine("vllm:num_requests_running", running, **labels),
    )


ALERT = Alert(
    name="RequestsAbandoned",
    theme="errors",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:model:requests_aborted_estimate:ratio_increase15m > 0.2\n"
        "and vllmwatch:model:requests_aborted_estimate:increase15m >= 20"
    ),
    hold="15m",
    keep_firing="10m",
    summary="Clients of {{ $labels.model_name }} give their requests up",
    description=(
        "About {{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} that got a first token in "
        "the last 15 minutes were given up by their clients."
    ),
    board=Board.FLEET,
    causes=("ModelWithoutServer", "VllmCrashLooping", "VllmEngineStuck", "VllmServerDown"),
    cases=(
        fires(
            "of 90 with a first token 36 do not end",
            *_asked(rising(0.1, "100m", begin=500), steady(4, "100m")),
            ended("stop", flowing((0.1, "20m"), (0.06, "40m"), (0.1, "40m"), begin=500)),
            at("25m"),
            at("55m", OF_MODEL),
            at("95m"),
        ),
        quiet(
            "15 % do not end; 40 %, which are twelve; more and more run; all for five minutes",
            *_asked(rising(1, "80m"), steady(4, "80m"), model_name="fewer"),
            ended("stop", rising(0.85, "80m"), model_name="fewer"),
            *_asked(rising(0.0333, "80m"), steady(4, "80m"), model_name="twelve"),
            ended("stop", rising(0.02, "80m"), model_name="twelve"),
            *_asked(rising(0.1, "80m"), rising(0.05, "80m"), model_name="growing"),
            ended("stop", rising(0.05, "80m"), model_name="growing"),
            *_asked(rising(0.1, "80m"), steady(4, "80m"), model_name="burst"),
            ended("stop", flowing((0.1, "30m"), (0, "5m"), (0.1, "45m")), model_name="burst"),
            at("32m"),
            at("42m"),
            at("60m"),
        ),
        messy(
            "twelve scraped twice; a restart that loses what ran; no traffic; a front end that counts those given up",
            *_asked(rising(0.0333, "80m"), steady(4, "80m"), model_name="twice"),
            *_asked(rising(0.0333, "80m"), steady(4, "80m"), model_name="twice", job="again"),
            ended("stop", rising(0.02, "80m"), model_name="twice"),
            *_asked(then(rising(0.1, "40m", begin=900), rising(0.1, "40m")), steady(9, "80m"), model_name="restarted"),
            ended("stop", then(rising(0.1, "40m", begin=900), rising(0.1, "40m")), model_name="restarted"),
            *_asked(steady(7, "80m"), steady(0, "80m"), model_name="idle"),
            ended("stop", steady(7, "80m"), model_name="idle"),
            *_asked(rising(0.1, "80m"), steady(4, "80m")),
            ended("stop", rising(0.06, "80m")),
            ended("abort", rising(0.04, "80m")),
            at("50m", OF_MODEL),
            at("75m", OF_MODEL),
        ),
    ),
)
