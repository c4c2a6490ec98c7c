"""Rules of alerts: one for all models, and others for models that have a threshold of their own."""

from typing import Any

import pytest
import yaml

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.thresholds import DEFAULTS, KV_CACHE_USAGE, REQUEST_LATENCY
from vllmwatch.render.alert_rules import AlertSettings, render_alert_rules
from vllmwatch.render.runbooks import render_runbook
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.threshold import Thresholds

BY_NAME = {alert.name: alert for alert in ALERTS}
OWN: dict[str, dict[str, float]] = {
    "org/fast": {REQUEST_LATENCY.key: 0.5, KV_CACHE_USAGE.key: 0.8},
    "org/slow": {REQUEST_LATENCY.key: 30},
}


def rules_of(name: str, settings: AlertSettings) -> list[dict[str, Any]]:
    text = render_alert_rules("theme", "Help.", [BY_NAME[name]], settings)
    rules: list[dict[str, Any]] = yaml.safe_load(text)["groups"][0]["rules"]
    return rules


def with_own(**severities: Severity) -> AlertSettings:
    return AlertSettings(thresholds=Thresholds(DEFAULTS.everywhere, OWN), severities=severities)


def test_without_thresholds_of_models_there_is_one_rule_for_all() -> None:
    (rule,) = rules_of("RequestLatencyP99High", AlertSettings())
    assert rule["labels"]["severity"] == "ticket"
    assert "model_name" not in rule["expr"]
    assert "{}" not in rule["expr"]


def test_latency_above_a_threshold_that_was_set_for_the_model_is_a_page() -> None:
    others, own = rules_of("RequestLatencyP99High", with_own())
    assert (others["labels"]["severity"], own["labels"]["severity"]) == ("ticket", "page")
    assert 'ratio_increase10m{model_name!~"org/fast|org/slow"} > 0.01' in others["expr"]
    assert 'ratio_increase10m{model_name=~"org/fast|org/slow"} > 0.01' in own["expr"]


def test_severity_of_the_settings_wins_for_every_model() -> None:
    (rule,) = rules_of("RequestLatencyP99High", with_own(RequestLatencyP99High=Severity.TICKET))
    assert rule["labels"]["severity"] == "ticket"
    assert "\nor\n" in rule["expr"]


def test_full_kv_cache_is_a_ticket_whoever_set_the_threshold_and_one_rule() -> None:
    (rule,) = rules_of("KvCacheUsageHigh", with_own())
    assert rule["labels"]["severity"] == "ticket"
    others, own = rule["expr"].split("\nor\n")
    assert 'model_name!~"org/fast"' in others
    assert "> 0.9" in others
    assert 'model_name="org/fast"' in own
    assert "> 0.8" in own


def test_runbook_tells_both_severities() -> None:
    def severity_row(name: str, settings: AlertSettings) -> str:
        sections = "What it means", "Why it matters", "First look", "What to do", "When it lies"
        page = render_runbook(BY_NAME[name], "\n".join(f"## {section}" for section in sections), settings)
        (row,) = [line for line in page.splitlines() if line.startswith("| severity")]
        return row

    assert "ticket; page for a model that has a threshold of its own" in severity_row(
        "RequestLatencyP99High", AlertSettings()
    )
    assert "model" not in severity_row("RequestLatencyP99High", with_own(RequestLatencyP99High=Severity.TICKET))
    assert "model" not in severity_row("KvCacheUsageHigh", AlertSettings())


def test_theme_without_alerts_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no alerts"):
        render_alert_rules("theme", "Help.", [], AlertSettings())
