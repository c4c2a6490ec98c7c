"""What happened meanwhile, marked on the charts of a board."""

from collections.abc import Iterator
from typing import Any

from vllmwatch.render.grafana.panels import METRICS
from vllmwatch.spec.board import Dashboard


def of_board(board: Dashboard) -> Iterator[dict[str, Any]]:
    """Yield the annotations of a board: pages, restarts, loads of models, XID events, and changes of versions."""
    yield {
        "builtIn": 1,
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "hide": True,
        "iconColor": "rgba(0, 211, 255, 1)",
        "name": "Annotations & Alerts",
        "type": "dashboard",
    }
    for name, color, expression, title in _happenings(board):
        yield {
            "datasource": METRICS,
            "enable": name != "Changes",
            # Hundreds of marks at once hide the chart that they stand on.
            "expr": f"topk($most, {expression})",
            "iconColor": color,
            "name": name,
            "step": "60s",
            "titleFormat": title,
        }


def _happenings(board: Dashboard) -> Iterator[tuple[str, str, str, str]]:
    """Yield the name, the color, the expression and the words of what is marked."""
    names = {variable.name for variable in board.variables}
    of_servers, of_gpus = (
        "".join(f',{label}=~"${label}"' for label in labels if label in names)
        for labels in (("node", "server"), ("node", "uuid"))
    )
    # A page about the whole model, or the whole node, is about each of its servers too.
    narrowed = "".join(f',{label}=~"${label}|"' for label in ("node", "model_name", "server") if label in names)
    yield (
        "Pages",
        "red",
        f'max by (alertname, model_name, server, node) (ALERTS{{alertstate="firing",severity="page"{narrowed}}})',
        "{{alertname}} {{model_name}} {{server}} {{node}}",
    )
    restarts, before = (
        f"max by (node, server) (vllmwatch:server:restarts:increase1h{{{of_servers[1:]}}}{when})"
        for when in ("", " offset 2m")
    )
    yield "Restarts", "orange", f"{restarts} > {before}", "{{server}} started anew"
    loads = f'max by (node, server) (vllmwatch_target_error{{reason="loading"{of_servers}}}) == 1'
    yield "Model loads", "blue", loads, "{{server}} loads its model"
    xids, earlier = (
        f"max by (node, gpu, uuid, xid) (vllmwatch_gpu_xid_last_timestamp_seconds{{{of_gpus[1:]}}}{when})"
        for when in ("", " offset 2m")
    )
    # The first event of a number has none before it.
    yield (
        "XID events",
        "yellow",
        f"({xids} > {earlier} or {xids} unless {earlier})",
        "XID {{xid}} GPU {{gpu}} ({{node}})",
    )
    versions, old = (
        f"group by (server, version) (vllmwatch_target_info{{{of_servers[1:]}}}{when})" for when in ("", " offset 5m")
    )
    yield "Changes", "purple", f"{versions} unless {old}", "{{server}} runs {{version}}"
