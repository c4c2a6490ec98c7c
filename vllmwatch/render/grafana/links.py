"""Where a series leads: to the narrower board, to the logs of its server and time, to runbooks."""

from collections.abc import Iterator
from typing import Any

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import Dashboard, Look, Panel

# Logs from five minutes before to five minutes after the point that was clicked.
_WINDOW_MILLISECONDS = 600_000
_RANGE = "${__url_time_range}"
_POINT = f"time=${{__value.time}}&time.window={_WINDOW_MILLISECONDS}"
_SOURCE = "${datasource:queryparam}"
_SLUGS = {alert.name: alert.slug for alert in ALERTS}


def of_series(panel: Panel, board: Dashboard, settings: BoardSettings) -> list[dict[str, Any]]:
    """Return the links of each series of a panel, by the labels that it has."""
    return [{"title": title, "url": url, "targetBlank": False} for title, url in _leads(panel, board, settings)]


def of_panel(panel: Panel, settings: BoardSettings) -> list[dict[str, Any]]:
    """Return the links of a panel: the runbook of each alert that watches what it shows."""
    return [
        {"title": f"Runbook: {name}", "url": f"{settings.runbook_base_url}/{_SLUGS[name]}", "targetBlank": True}
        for name in panel.alerts
    ]


def _leads(panel: Panel, board: Dashboard, settings: BoardSettings) -> Iterator[tuple[str, str]]:
    table = panel.look is Look.TABLE
    at = _RANGE if table or panel.look is Look.NUMBER else _POINT
    server, model, uuid, node = (_value(label, table=table) for label in ("server", "model_name", "uuid", "node"))
    # Two nodes may have a server of one name.
    server_there = f"var-server={server}" + (f"&var-node={node}" if "node" in panel.labels else "")
    if "alertname" in panel.labels and table:
        # The exporter knows an alert's runbook by its name too, which is all that a series has.
        yield "Its runbook", f"{settings.runbook_base_url}/{_value('alertname', table=True)}"
    if "server" in panel.labels:
        if board.uid is not Board.SERVER:
            yield "The server", _board(Board.SERVER, server_there, _RANGE)
        elif "engine" in panel.labels:
            engine = _value("engine", table=table)
            yield "This engine alone", _board(Board.SERVER, f"{server_there}&var-engine={engine}", _RANGE)
        yield "Its logs", _board(Board.LOGS, server_there, at)
    elif "model_name" in panel.labels and board.uid is not Board.SERVER:
        yield "The model", _board(Board.SERVER, f"var-model_name={model}", _RANGE)
    if "uuid" in panel.labels and board.uid is not Board.GPU:
        yield "The GPU", _board(Board.GPU, f"var-uuid={uuid}", _RANGE)
    elif "node" in panel.labels and board.uid is Board.GPU:
        yield "The kernel's log", _board(Board.LOGS, f"var-node={node}", at)


def _board(uid: Board, variables: str, time: str) -> str:
    return f"/d/{uid}?{variables}&{_SOURCE}&{time}"


def _value(label: str, *, table: bool) -> str:
    """Return the variable of Grafana that holds the value of a label, escaped as an address asks."""
    return f"${{__data.fields.{label}:percentencode}}" if table else f"${{__field.labels.{label}:percentencode}}"
