"""The rules of grafana/dashboard-linter (docs/rules), held against our boards; where one is not ours, it says why.

Not ours: template-job, template-instance, target-job and target-instance. They ask that every query be narrowed by the
labels of a scrape; our series are told apart by node, server, engine and uuid, since two jobs may scrape one exporter.
"""

import json
import re
from typing import Any

import pytest

from vllmwatch.catalog import exporter, gpu, joined
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.render.grafana import render_board
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.metric import Kind

MADE: dict[str, dict[str, Any]] = {
    board.uid.value: json.loads(render_board(board, BoardSettings())) for board in BOARDS
}
COUNTERS = {
    metric.name for module in (gpu, joined, exporter) for metric in module.METRICS if metric.kind is Kind.COUNTER
} | {
    "prometheus_rule_evaluation_failures_total",
    "prometheus_notifications_dropped_total",
    "alertmanager_notification_requests_total",
    "alertmanager_notification_requests_failed_total",
    "loki_distributor_lines_received_total",
    "loki_discarded_samples_total",
}
OF_BOARDS = pytest.mark.parametrize("data", MADE.values(), ids=MADE.keys())


def panels(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in data["panels"] if each["type"] != "row"]


def expressions(data: dict[str, Any], kind: str = "prometheus") -> list[str]:
    return [
        target["expr"] for panel in panels(data) for target in panel["targets"] if target["datasource"]["type"] == kind
    ]


@OF_BOARDS
def test_template_datasource(data: dict[str, Any]) -> None:
    sources = {each["name"]: each for each in data["templating"]["list"] if each["type"] == "datasource"}
    assert (sources["datasource"]["label"], sources["datasource"]["query"]) == ("Data source", "prometheus")
    if len(sources) > 1:
        assert (sources["loki_datasource"]["label"], sources["loki_datasource"]["query"]) == (
            "Loki data source",
            "loki",
        )
    assert len(sources) == (2 if expressions(data, "loki") else 1)


@OF_BOARDS
def test_template_on_time_change_reload(data: dict[str, Any]) -> None:
    assert [
        each["name"] for each in data["templating"]["list"] if each["type"] == "query" and each["refresh"] != 2
    ] == []


@OF_BOARDS
def test_panel_datasource(data: dict[str, Any]) -> None:
    for panel in panels(data):
        assert panel["datasource"]["uid"] in {"${datasource}", "${loki_datasource}"}
        assert {target["datasource"]["uid"] for target in panel["targets"]} == {panel["datasource"]["uid"]}


@OF_BOARDS
def test_panel_title_description(data: dict[str, Any]) -> None:
    assert [panel["id"] for panel in panels(data) if not panel["title"] or not panel["description"]] == []


@OF_BOARDS
def test_panel_units(data: dict[str, Any]) -> None:
    shown = [panel for panel in panels(data) if panel["type"] in {"stat", "timeseries", "gauge", "bargauge"}]
    assert [panel["title"] for panel in shown if not panel["fieldConfig"]["defaults"].get("unit")] == []


@OF_BOARDS
def test_panel_no_targets(data: dict[str, Any]) -> None:
    assert [panel["title"] for panel in panels(data) if not panel["targets"]] == []


@OF_BOARDS
def test_target_rate_interval(data: dict[str, Any]) -> None:
    """A rate over a fixed window has holes where scrapes are further apart."""
    windows = [
        window for text in expressions(data) for window in re.findall(r"\b(?:i?rate|increase)\([^\[]*\[([^\]]+)", text)
    ]
    assert set(windows) <= {"$__rate_interval"}


@OF_BOARDS
def test_target_counter_agg(data: dict[str, Any]) -> None:
    """A counter alone says nothing; and what is rated is a counter."""
    for text in expressions(data):
        for name in re.findall(r"\b[a-z_]+_total\b", text):
            assert name in COUNTERS
            assert re.search(rf"\b(?:rate|increase)\({name}\b", text), text
        for name in re.findall(r"\b(?:rate|increase)\((\w+)", text):
            assert name in COUNTERS, text


@OF_BOARDS
def test_uneditable_dashboard(data: dict[str, Any]) -> None:
    assert data["editable"] is False
