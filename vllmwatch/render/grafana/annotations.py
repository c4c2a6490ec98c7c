"""What happened meanwhile, marked on the charts of a board."""

from collections.abc import Iterator
from typing import Any

from vllmwatch.render.grafana.panels import METRICS
from vllmwatch.spec.board import Dashboard


def of_board(board: Dashboard) -> Iterator[dict[str, Any]]:
    """Yield the annotations of a board: pages, restarts, loads of models, and changes of versions."""
    yield {
        "builtIn": 1,
        "datasource": {"type": "grafana", "uid": "-- Grafana --"},
        "enable": True,
        "hide": True,
        "iconColor": "rgba(0, 211, 255, 1)",
        "name": "Annotations & Alerts",
        "type": "dashboard",
    }
    names = {variable.name for variable in board.variables}
    narrowed = "".join(f',{name}=~"${name}"' for name in ("node", "model_name", "server") if name in names)
    of_servers = "".join(f',{name}=~"${name}"' for name in ("node", "server") if name in names)
    restarts, before = (
        f"max by (server) (vllmwatch:server:restarts:increase1h{{{of_servers[1:]}}}{when})"
        for when in ("", " offset 2m")
    )
    versions, old = (
        f"group by (server, version) (vllmwatch_target_info{{{of_servers[1:]}}}{when})" for when in ("", " offset 5m")
    )
    for name, color, expression, title in (
        (
            "Pages",
            "red",
            f'max by (alertname, model_name, server, node) (ALERTS{{alertstate="firing",severity="page"{narrowed}}})',
            "{{alertname}} {{model_name}} {{server}} {{node}}",
        ),
        ("Restarts", "orange", f"{restarts} > {before}", "{{server}} started anew"),
        (
            "Model loads",
            "blue",
            f'max by (server) (vllmwatch_target_error{{reason="loading"{of_servers}}}) == 1',
            "{{server}} loads its model",
        ),
        (
            "Changes",
            "purple",
            f"{versions} unless {old}",
            "{{server}} runs {{version}}",
        ),
    ):
        yield {
            "datasource": METRICS,
            "enable": name != "Changes",
            "expr": expression,
            "iconColor": color,
            "name": name,
            "step": "60s",
            "titleFormat": title,
        }
