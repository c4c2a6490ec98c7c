"""Alerts about logs have a rule of Loki each, which says what that of Prometheus says, and is LogQL."""

import re
from typing import Any

import pytest
import yaml

from vllmwatch.catalog.alerts import ALERTS, THEMES
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.render.alert_rules import AlertSettings, render_alert_rules
from vllmwatch.render.loki_rules import expression, loki_rule_files
from vllmwatch.spec.alert import Alert, Severity
from vllmwatch.spec.logline import LogSource

_ABOUT_LOGS = [alert for alert in ALERTS if alert.events]
# LogQL as it is used here: an aggregation of a range aggregation of a selector with one filter of a label.
_LOGQL = re.compile(
    r"""sum\ by\ \((?P<by>[a-z_]+(?:,\ [a-z_]+)*)\)
    \ \(count_over_time\(\{(?P<matchers>[a-z_]+="[a-z]+"(?:,[a-z_]+="[a-z]+")*)\}
    \ \|\ (?P<label>[a-z_]+)(?P<sign>=~|=)"(?P<value>[^"\\]*)"\ \[(?P<window>[1-9][0-9]*[smhd])\]\)\)\ >\ 0""",
    re.VERBOSE,
)


def rules(settings: AlertSettings | None = None) -> dict[str, dict[str, Any]]:
    """Return every rule of Loki by its alert."""
    files = loki_rule_files(ALERTS, THEMES, settings or AlertSettings())
    groups = [group for text in files.values() for group in yaml.safe_load(text)["groups"]]
    assert len({group["name"] for group in groups}) == len(groups)
    assert {group["interval"] for group in groups} == {"1m"}
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def test_every_alert_about_a_log_has_a_rule_and_no_other() -> None:
    assert _ABOUT_LOGS
    assert list(rules()) == [alert.name for alert in _ABOUT_LOGS]


@pytest.mark.parametrize("alert", _ABOUT_LOGS, ids=lambda alert: alert.name)
def test_the_rule_says_what_that_of_prometheus_says(alert: Alert) -> None:
    settings = AlertSettings(severities={alert.name: Severity.PAGE}, team="llm", grafana_url="https://g.example")
    text = render_alert_rules(alert.theme, "Help.", [alert], settings)
    (of_prometheus,) = yaml.safe_load(text)["groups"][0]["rules"]
    of_loki = rules(settings)[alert.name]
    assert {**of_loki, "expr": ""} == {**of_prometheus, "expr": ""}
    assert of_loki["labels"] == {"severity": "page", "team": "llm"}


@pytest.mark.parametrize("alert", _ABOUT_LOGS, ids=lambda alert: alert.name)
def test_the_expression_is_logql_about_the_events_of_the_alert(alert: Alert) -> None:
    parts = _LOGQL.fullmatch(expression(alert))
    assert parts is not None
    assert parts["by"].split(", ") == ["node", "server", "event"]
    assert set(alert.labels) <= set(parts["by"].split(", "))
    assert parts["matchers"] == 'job="vllm"'
    assert (parts["label"], parts["sign"]) == ("event", "=~")
    assert tuple(parts["value"].split("|")) == alert.events
    assert f"[{parts['window']}]" in alert.expression
    known = {event.name for event in LOG_CATALOG.events if event.source is LogSource.VLLM}
    assert set(alert.events) <= known


def test_without_alerts_about_logs_there_is_no_file() -> None:
    others = [alert for alert in ALERTS if not alert.events]
    assert loki_rule_files(others, THEMES, AlertSettings()) == {}
