"""What a value looks like: its unit, from where on it has another color, and words in its place."""

from collections.abc import Mapping
from typing import Any

from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.board import Color, Limits, Panel, Query, Value
from vllmwatch.spec.unit import Unit

# Grafana colors from a step on, and what is above 0 must not color 0 itself.
_LEAST = 1e-9


def steps(limits: Limits, settings: BoardSettings) -> list[dict[str, Any]]:
    """Return Grafana's threshold steps; the first has no value."""
    above = [(Color.CARE, limits.care_above), (Color.BAD, limits.bad_above)]
    below = [(Color.CARE, limits.bad_below), (Color.WELL, limits.care_below or limits.bad_below)]
    if any(value is not None for _, value in below):
        first, rest = Color.BAD if limits.bad_below is not None else Color.CARE, below
        rest = rest if limits.care_below is not None and limits.bad_below is not None else rest[1:]
    else:
        first, rest = Color.WELL, above
    known = [
        {"color": str(color), "value": _number(value, settings) or _LEAST} for color, value in rest if value is not None
    ]
    return [{"color": str(first), "value": None}, *known]


def mappings(values: Mapping[float, Value]) -> list[dict[str, Any]]:
    """Return Grafana's mappings of values to words."""
    if not values:
        return []
    options = {
        f"{value:g}": {"text": each.word, "color": str(each.color), "index": index}
        for index, (value, each) in enumerate(values.items())
    }
    return [{"type": "value", "options": options}]


def unit_of(unit: Unit) -> str:
    """Return the id of Grafana's format."""
    return unit.grafana


def defaults(panel: Panel, settings: BoardSettings) -> dict[str, Any]:
    """Return what holds for all values of a panel."""
    known: dict[str, Any] = {
        "unit": unit_of(panel.unit),
        "noValue": panel.no_data,
        "mappings": mappings(panel.values),
        "thresholds": {"mode": "absolute", "steps": steps(panel.limits, settings)},
    }
    return known | ({"min": 0, "max": 1} if panel.at_most_one else {})


def column_override(query: Query, panel: Panel, settings: BoardSettings) -> dict[str, Any]:
    """Return what holds for the values of one column of a table."""
    properties: list[dict[str, Any]] = [{"id": "unit", "value": unit_of(query.unit)}]
    is_state = bool(panel.values) and query is panel.queries[0]
    if is_state:
        properties.append({"id": "mappings", "value": mappings(panel.values)})
    if query.limits.any:
        properties.append({"id": "thresholds", "value": {"mode": "absolute", "steps": steps(query.limits, settings)}})
    if query.limits.any or is_state:
        kind = "color-background" if is_state else "color-text"
        properties.append({"id": "custom.cellOptions", "value": {"type": kind}})
    return {"matcher": {"id": "byName", "options": query.column}, "properties": properties}


def _number(value: float | str, settings: BoardSettings) -> float:
    return settings.thresholds.everywhere[value] if isinstance(value, str) else value
