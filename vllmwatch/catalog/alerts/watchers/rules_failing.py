"""Prometheus cannot evaluate some of its rules.

## What it means

Rules failed within the last ten minutes: what they record is absent, and what they alert of is not told.

## Why it matters

A rule that fails is an alert that never fires.

## First look

- Prometheus' page `/rules`, or `curl -s localhost:9090/api/v1/rules`, where `health` is `err`: the rule and its error.
- `many-to-many matching` is two series where one is meant: two exporters of one host, or labels that were relabelled.

## What to do

1. Two exporters watch one host: end one, or give them two names (`node`).
2. Labels were dropped by relabelling: keep `node`, `server`, `engine`, `model_name` and `uuid`.
3. Otherwise report it with the error and the series.

## When it lies

It needs Prometheus' own page among its targets; without that it never fires.
"""

from vllmwatch.catalog.recordings.stories.words import series
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, rising, steady, then

_FAILED = "prometheus_rule_evaluation_failures_total"
_WHO = {"rule_group": "a"}

ALERT = Alert(
    name="RulesFailing",
    theme="watchers",
    subject=Subject.STACK,
    own_labels=("rule_group",),
    severity=Severity.TICKET,
    expression="max by (rule_group) (increase(prometheus_rule_evaluation_failures_total[10m])) > 0",
    hold="10m",
    summary="Rules of {{ $labels.rule_group }} fail",
    description="{{ $value | humanize }} evaluations of {{ $labels.rule_group }} failed within ten minutes.",
    board=Board.WATCHERS,
    cases=(
        fires(
            "a rule fails each time",
            series(_FAILED, then(steady(0, "5m"), rising(0.03, "40m")), rule_group="a"),
            at("14m"),
            at("20m", _WHO),
        ),
        quiet(
            "a rule failed once",
            series(_FAILED, then(steady(0, "5m"), steady(1, "1h")), rule_group="a"),
            at("14m"),
            at("30m"),
        ),
        messy(
            "one of two groups; Prometheus begins anew",
            series(_FAILED, then(rising(0.03, "20m"), rising(0.03, "30m")), rule_group="a"),
            series(_FAILED, steady(7, "50m"), rule_group="b"),
            at("45m", _WHO),
        ),
    ),
)
