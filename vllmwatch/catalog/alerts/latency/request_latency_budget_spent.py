"""For days more requests to a model are slow than its objective allows.

## What it means

Over the last three days, and over the last six hours as well, more of a model's requests took longer than its
`request_latency_p99_seconds` than its objective allows (5 %, by `request_latency_objective_ratio`); at least 50 of them
in the six hours. No hour was bad enough to wake anybody. At the end of the month the objective is missed.

## Why it matters

It is the slow kind of too slow, which no alert on ten minutes tells from a bad moment: load that grew, a card that is
held down, prompts that became longer. It is for working hours, and for a decision.

## First look

- `vllmwatch:model:request_latency_slow:ratio_increase1h` over a week: since when, and at which hours?
- `vllmwatch:model:requests_finished:rate5m` and `vllmwatch:model:generation_tokens:rate5m`: more requests, or longer
  answers?
- `vllmwatch:server:request_latency_slow:ratio_increase6h`: does one server make the difference?

## What to do

1. Load grew: add a server for the hours in question.
2. One server is slower than its like: compare clocks, temperatures and PCIe width on the board of GPUs.
3. The objective does not fit what users ask of the model: change `request_latency_p99_seconds` or
   `request_latency_objective_ratio` under `models`, on purpose.

## When it lies

Three days are summed by whole hours, so the last hour counts late. A model that was started a few hours ago has no
three days: its share is of the hours that there are.
"""

from vllmwatch.catalog.alerts.latency._series import OF_MODEL, timed
from vllmwatch.catalog.latencies import REQUEST
from vllmwatch.catalog.thresholds import REQUEST_OBJECTIVE
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet
from vllmwatch.spec.story import Series

ALERT = Alert(
    name="RequestLatencyBudgetSpent",
    theme="latency",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    threshold=REQUEST_OBJECTIVE.key,
    expression=(
        "vllmwatch:model:request_latency_slow:ratio_increase72h{<models>} > 1 - <threshold>\n"
        "and vllmwatch:model:request_latency_slow:ratio_increase6h{<models>} > 1 - <threshold>\n"
        "and vllmwatch:model:request_latency_slow:increase6h{<models>} >= 50"
    ),
    hold="1h",
    summary="Requests to {{ $labels.model_name }} are slow for days",
    description=(
        "{{ $value | humanizePercentage }} of the requests to {{ $labels.model_name }} in the last 3 days took longer "
        "than its request_latency_p99_seconds, which is more than its objective allows."
    ),
    board=Board.FLEET,
    cases=(
        fires(
            "6 % are slow, hour after hour",
            *timed(REQUEST, "2.0", (0.2, 0.012, "150m")),
            at("115m"),
            at("140m", OF_MODEL),
        ),
        quiet(
            "4 % are slow; 6 %, which are less than fifty; 6 % for an hour and no more",
            *timed(REQUEST, "2.0", (1, 0.04, "132m"), model_name="fewer"),
            *timed(REQUEST, "2.0", (0.1, 0.006, "132m"), model_name="not fifty"),
            *timed(REQUEST, "2.0", (0.5, 0.03, "1h"), (5, 0, "72m"), model_name="an hour"),
            at("125m"),
            at("131m"),
        ),
        quiet(
            "after many slow ones six good hours, and after many good ones, with more requests, six bad hours",
            *timed(REQUEST, "2.0", (5, 5, "10m"), (1, 0.01, "430m"), model_name="better"),
            *timed(REQUEST, "2.0", (300, 0, "10m"), (1, 0.07, "430m"), model_name="worse"),
            at("438m"),
        ),
        messy(
            "no traffic, less than fifty that are scraped twice, a restart, and two servers of which one is slow",
            *timed(REQUEST, "2.0", (0, 0, "132m"), model_name="idle"),
            *timed(REQUEST, "2.0", (0.1, 0.006, "132m"), model_name="twice"),
            *timed(REQUEST, "2.0", (0.1, 0.006, "132m"), model_name="twice", job="again"),
            *(
                Series(each.selector, f"{each.values} {each.values}")
                for each in timed(REQUEST, "2.0", (3, 0, "66m"), model_name="restarted")
            ),
            *timed(REQUEST, "2.0", (0.5, 0.02, "132m"), model_name="two"),
            *timed(REQUEST, "2.0", (0.1, 0.05, "132m"), model_name="two", server="box:8001"),
            at("131m", {"model_name": "two"}),
        ),
    ),
)
