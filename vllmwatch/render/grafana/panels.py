"""Panels of Grafana, one function for each way to show an answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

import grafanalib.core as grafana

from vllmwatch.render.grafana import fields, links
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.board import Dashboard, Look, Panel, Query, Source
from vllmwatch.spec.promql import either, is_none_of, is_text

METRICS = {"type": "prometheus", "uid": "${datasource}"}
LOGS = {"type": "loki", "uid": "${loki_datasource}"}
_FORMATS = {Look.TABLE: "table", Look.HEAT: "heatmap"}
_TABLE_LEGEND = {"displayMode": "table", "placement": "bottom", "showLegend": True, "calcs": ["lastNotNull", "max"]}
_LIST_LEGEND = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
_TOOLTIP = {"mode": "multi", "sort": "desc"}
# Grafana draws no history of more points than half of a panel's pixels; this many fit the narrowest.
_POINTS_OF_HISTORY = 100
# What a cell of a table says where a series has no such value, or lacks a label.
_EMPTY_CELL = "-"


@dataclass(frozen=True, slots=True)
class _Given:
    """A panel, what all panels have of it, what holds for its values, and the settings."""

    spec: Panel
    common: Mapping[str, Any]
    defaults: dict[str, Any]
    settings: BoardSettings


class Bare(grafana.Panel):
    """A panel of a kind that grafanalib does not know; all that it is stands in `extraJson`."""

    def to_json_data(self) -> dict[str, Any]:
        """Return the panel as grafanalib writes it."""
        return dict(self.panel_json({}))


def panel(spec: Panel, board: Dashboard, settings: BoardSettings) -> grafana.Panel:
    """Return a panel of grafanalib; its place and its number are given later."""
    common = {
        "title": spec.title,
        "description": spec.description,
        "dataSource": _source(spec),
        "targets": [_target(query, index, spec, settings) for index, query in enumerate(spec.queries)],
        "links": links.of_panel(spec, settings),
    }
    defaults = fields.defaults(spec, settings)
    if found := links.of_series(spec, board, settings):
        defaults["links"] = found
    return _MAKERS[spec.look](_Given(spec, common, defaults, settings))


def expression_of(query: Query, settings: BoardSettings) -> str:
    """Return what is asked: at the threshold for all models, and for those that have their own at that."""
    if not query.threshold:
        return query.expression
    thresholds = settings.thresholds
    own = thresholds.own_of(query.threshold)
    every = _at(query, thresholds.everywhere[query.threshold], is_none_of("model_name", own) if own else "")
    return either(every, *(_at(query, value, is_text("model_name", model)) for model, value in own.items()))


def _at(query: Query, value: float, models: str) -> str:
    text = query.expression.replace("<threshold>", f"{value:.12g}")
    return text.replace("<models>", models) if models else text.replace("<models>,", "")


def _source(spec: Panel) -> Mapping[str, str]:
    return LOGS if any(query.source is Source.LOGS for query in spec.queries) else METRICS


def _target(query: Query, index: int, spec: Panel, settings: BoardSettings) -> grafana.Target:
    return _Target(
        expr=expression_of(query, settings),
        refId=ascii_uppercase[index],
        legendFormat=query.legend or "__auto",
        format=_FORMATS.get(spec.look, "time_series"),
        instant=query.at_once,
        datasource=LOGS if query.source is Source.LOGS else METRICS,
    )


class _Target(grafana.Target):
    """A question; Grafana asks for a course unless it is told not to, and Loki by another word."""

    def to_json_data(self) -> dict[str, Any]:
        of_logs = self.datasource == LOGS
        asked = {"queryType": "range"} if of_logs else {"instant": self.instant, "range": not self.instant}
        form = {} if of_logs else {"format": self.format}
        return {
            "datasource": self.datasource,
            "editorMode": "code",
            "expr": self.expr,
            "legendFormat": self.legendFormat,
            "refId": self.refId,
            **asked,
            **form,
        }


def _lines(given: _Given) -> grafana.Panel:
    custom = {
        "drawStyle": "line",
        "fillOpacity": 30 if given.spec.stacked else 8,
        "lineWidth": 1,
        "showPoints": "never",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if given.spec.stacked else "none"},
        "thresholdsStyle": {"mode": "line" if given.spec.limits.any else "off"},
        "axisSoftMin": 0,
    }
    return grafana.TimeSeries(
        **given.common,
        colorMode="palette-classic",
        extraJson={
            "fieldConfig": {"defaults": given.defaults | {"custom": custom}},
            "options": {"legend": _TABLE_LEGEND, "tooltip": _TOOLTIP},
        },
    )


def _number(given: _Given) -> grafana.Panel:
    return grafana.Stat(
        **given.common,
        colorMode="value" if given.spec.limits.any else "none",
        graphMode="none",
        reduceCalc="lastNotNull",
        extraJson={"fieldConfig": {"defaults": given.defaults | {"color": {"mode": "thresholds"}}}},
    )


def _table(given: _Given) -> grafana.Panel:
    several = len(given.spec.queries) > 1
    values = {
        f"Value #{letter}" if several else "Value": query.column
        for letter, query in zip(ascii_uppercase, given.spec.queries, strict=False)
    }
    # These would hold for labels too: Grafana takes the text "79" for a number, and writes it as a date.
    defaults = {key: value for key, value in given.defaults.items() if key not in {"unit", "mappings"}}
    order = (
        [*given.spec.labels, *values]
        if given.spec.hidden
        else [*list(values)[:1], *given.spec.labels, *list(values)[1:]]
    )
    hidden = {"Time": True} | {field: True for field, heading in values.items() if heading in given.spec.hidden}
    organize = {
        "excludeByName": hidden,
        "indexByName": {field: index for index, field in enumerate(order)},
        "renameByName": values,
    }
    merge = [{"id": "merge", "options": {}}] if several else []
    overrides = [
        {"matcher": {"id": "byRegexp", "options": ".*"}, "properties": [{"id": "noValue", "value": _EMPTY_CELL}]},
        *(fields.column_override(query, given.spec, given.settings) for query in given.spec.queries),
    ]
    custom = {"align": "auto", "cellOptions": {"type": "auto"}, "filterable": True, "inspect": False}
    sort = [] if given.spec.hidden else [{"desc": True, "displayName": given.spec.queries[0].column}]
    return grafana.Table(
        **given.common,
        transformations=[*merge, {"id": "organize", "options": organize}],
        extraJson={
            "fieldConfig": {
                "defaults": defaults | {"custom": custom, "color": {"mode": "thresholds"}},
                "overrides": overrides,
            },
            "options": {"cellHeight": "sm", "showHeader": True, "sortBy": sort, "footer": {"show": False}},
        },
    )


def _states(given: _Given) -> grafana.Panel:
    return grafana.StateTimeline(
        **given.common,
        extraJson={
            "fieldConfig": {
                "defaults": given.defaults
                | {"color": {"mode": "thresholds"}, "custom": {"fillOpacity": 70, "lineWidth": 0, "spanNulls": False}}
            },
            "options": {
                "alignValue": "left",
                "legend": _LIST_LEGEND,
                "mergeValues": True,
                "rowHeight": 0.9,
                "showValue": "auto",
                "tooltip": _TOOLTIP,
            },
        },
    )


def _history(given: _Given) -> grafana.Panel:
    color = {"mode": "thresholds" if given.spec.limits.any else "continuous-BlYlRd"}
    return Bare(
        **given.common,
        extraJson={
            "type": "status-history",
            "maxDataPoints": _POINTS_OF_HISTORY,
            "fieldConfig": {
                "defaults": given.defaults | {"color": color, "custom": {"fillOpacity": 80, "lineWidth": 0}},
                "overrides": [],
            },
            "options": {
                "colWidth": 1,
                "legend": _LIST_LEGEND,
                "rowHeight": 0.95,
                "showValue": "never",
                "tooltip": _TOOLTIP,
            },
        },
    )


def _heat(given: _Given) -> grafana.Panel:
    return Bare(
        **given.common,
        extraJson={
            "type": "heatmap",
            "fieldConfig": {
                "defaults": {
                    "noValue": given.spec.no_data,
                    "custom": {"hideFrom": {"legend": False, "tooltip": False, "viz": False}},
                },
                "overrides": [],
            },
            "options": {
                "calculate": False,
                "cellGap": 0,
                "color": {"exponent": 0.5, "mode": "scheme", "scale": "exponential", "scheme": "Oranges", "steps": 64},
                "exemplars": {"color": "rgba(255,0,255,0.7)"},
                "filterValues": {"le": 1e-9},
                "legend": {"show": False},
                "rowsFrame": {"layout": "auto"},
                "tooltip": {"mode": "single", "yHistogram": False},
                "yAxis": {"axisPlacement": "left", "reverse": False, "unit": fields.unit_of(given.spec.unit)},
                "cellValues": {"unit": "reqps"},
            },
        },
    )


def _logs(given: _Given) -> grafana.Panel:
    return grafana.Logs(
        **given.common,
        showTime=True,
        wrapLogMessages=True,
        enableLogDetails=True,
        sortOrder="Descending",
        dedupStrategy="none",
        extraJson={"fieldConfig": {"defaults": {"noValue": given.spec.no_data}, "overrides": []}},
    )


_MAKERS: Mapping[Look, Callable[[_Given], grafana.Panel]] = {
    Look.LINES: _lines,
    Look.NUMBER: _number,
    Look.TABLE: _table,
    Look.STATES: _states,
    Look.HISTORY: _history,
    Look.HEAT: _heat,
    Look.LOGS: _logs,
}
