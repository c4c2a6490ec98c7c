"""What grafanalib writes and Grafana no longer reads, or reads otherwise: left out, or put right."""

from typing import Any

# The last schema of dashboards in this form; grafanalib's own is older than Grafana still migrates.
SCHEMA_VERSION = 39
_DEAD_ON_PANELS = frozenset(
    {
        *("cacheTimeout", "editable", "error", "height", "hideTimeOverride", "interval", "isNew", "maxDataPoints"),
        *(
            "color",
            "columns",
            "fontSize",
            "mappings",
            "maxPerRow",
            "minSpan",
            "repeat",
            "repeatDirection",
            "span",
            "thresholds",
            "timeFrom",
            "timeShift",
            "transparent",
        ),
    }
)
# grafanalib asks for 100 points on every panel, which is right for these alone.
_WITH_FEW_POINTS = frozenset({"status-history"})
_DEAD_ON_BOARDS = frozenset(
    {"__inputs", "gnetId", "hideControls", "rows", "sharedCrosshair", "style", "inputs", "version"}
)
_DEAD_ON_VARIABLES = frozenset({"auto", "auto_count", "auto_min", "tagValuesQuery", "tagsQuery", "useTags"})


def board(data: dict[str, Any]) -> dict[str, Any]:
    """Return a board as Grafana 10 and newer write it."""
    kept = {key: value for key, value in data.items() if key not in _DEAD_ON_BOARDS}
    kept["panels"] = [_panel(each) for each in data["panels"]]
    kept["templating"] = {"list": [_variable(each) for each in data["templating"]["list"]]}
    kept["timepicker"] = {}
    return kept | {"id": None, "schemaVersion": SCHEMA_VERSION}


def _panel(data: dict[str, Any]) -> dict[str, Any]:
    kept = _without(data, _DEAD_ON_PANELS)
    if data["type"] in _WITH_FEW_POINTS:
        kept["maxDataPoints"] = data["maxDataPoints"]
    if kept["type"] == "row":
        return {key: kept[key] for key in ("collapsed", "gridPos", "id", "panels", "title", "type")}
    if "fieldConfig" in kept:
        kept["fieldConfig"] = {
            "defaults": _field_defaults(kept["fieldConfig"]["defaults"]),
            "overrides": kept["fieldConfig"].get("overrides") or [],
        }
    if not kept.get("transformations"):
        kept.pop("transformations", None)
    return kept


def _variable(data: dict[str, Any]) -> dict[str, Any]:
    kept = _without(data, _DEAD_ON_VARIABLES)
    kept["current"].pop("tags", None)
    if data["multi"]:
        kept["current"] = {"selected": True, "text": ["All"], "value": ["$__all"]}
    return kept


def _field_defaults(data: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in data.items() if value is not None and (key, value) != ("unit", "")}
    if "custom" in kept:
        kept["custom"] = {
            key: value for key, value in kept["custom"].items() if value is not None and key != "displayMode"
        }
    return kept


def _without(data: dict[str, Any], dead: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in dead and value is not None}
