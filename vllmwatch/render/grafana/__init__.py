"""dashboards/*.json: boards of Grafana, through grafanalib, whose one home this is."""

import json
from collections.abc import Iterator
from typing import Any

import grafanalib.core as grafana

from vllmwatch.render import mark
from vllmwatch.render.grafana import annotations, mend, panels
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.board import Dashboard, Panel, Row, Variable

TAG = "vllmwatch"
_MOST = ("10", "25", "50", "100")
_DEFAULT_MOST = "50"
_LOAD, _RANGE = 1, 2


def render_board(board: Dashboard, settings: BoardSettings) -> str:
    """Return the JSON of a board, which Grafana provisions from a file and imports by hand alike."""
    made = grafana.Dashboard(
        title=board.title,
        description=f"{board.question} {mark.sentence()}",
        uid=str(board.uid),
        tags=[TAG],
        editable=False,
        timezone="",
        refresh="30s",
        time=grafana.Time("now-1h", "now"),
        graphTooltip=grafana.GRAPH_TOOLTIP_MODE_SHARED_CROSSHAIR,
        links=[_to_the_others()],
        templating=grafana.Templating(list(_variables(board, settings))),
        annotations=grafana.Annotations(list(annotations.of_board(board))),
        panels=list(_panels(board, settings)),
    )
    data = mend.board(json.loads(json.dumps(made.to_json_data(), default=_plain)))
    # The mark stands in the second line.
    ordered = {"description": data.pop("description")} | dict(sorted(data.items()))
    return json.dumps(ordered, indent=1, ensure_ascii=False) + "\n"


def _plain(made: Any) -> Any:
    """Return what an object of grafanalib stands for."""
    return made.to_json_data()


def board_path(board: Dashboard) -> str:
    """Return where the JSON of a board lies in the checkout."""
    return f"dashboards/{board.uid.value.removeprefix('vllmwatch-')}.json"


def _panels(board: Dashboard, settings: BoardSettings) -> Iterator[grafana.Panel]:
    number, top = 1, 0
    for row in board.rows:
        yield grafana.RowPanel(title=row.title, collapsed=False, id=number, gridPos=grafana.GridPos(1, 24, 0, top))
        number, top = number + 1, top + 1
        for spec, left, above in _places(row):
            made = panels.panel(spec, board, settings)
            made.id = number
            made.gridPos = grafana.GridPos(spec.height, spec.width, left, top + above)
            number += 1
            yield made
        top += sum(line[0].height for line in row.lines)


def _places(row: Row) -> Iterator[tuple[Panel, int, int]]:
    """Yield each panel of a row with the column and the line of the grid where it begins."""
    above = 0
    for line in row.lines:
        left = 0
        for spec in line:
            yield spec, left, above
            left += spec.width
        above += line[0].height


def _to_the_others() -> grafana.DashboardLink:
    return grafana.DashboardLink(
        title="Boards",
        type="dashboards",
        tags=[TAG],
        asDropdown=False,
        includeVars=True,
        keepTime=True,
        icon="dashboard",
    )


def _variables(board: Dashboard, settings: BoardSettings) -> Iterator[grafana.Template]:
    yield _data_source("datasource", "Data source", "prometheus", settings.metrics_source)
    if board.has_logs:
        yield _data_source("loki_datasource", "Loki data source", "loki", settings.logs_source)
    for variable in board.variables:
        yield _variable(variable)
    if board.has_logs:
        yield grafana.Template(name="search", label="Search", query="", type="textbox", default="")
    most = grafana.Template(
        name="most",
        label="Most",
        query=",".join(_MOST),
        type="custom",
        default=_DEFAULT_MOST,
        sort=grafana.SORT_DISABLED,
    )
    yield most


def _data_source(name: str, word: str, kind: str, uid: str) -> grafana.Template:
    return grafana.Template(name=name, label=word, query=kind, type="datasource", default=uid)


def _variable(variable: Variable) -> grafana.Template:
    """Return a variable of several values, which Grafana escapes for a pattern; "All" matches absent labels too."""
    return grafana.Template(
        name=variable.name,
        label=variable.word,
        query=variable.query,
        dataSource=panels.METRICS,
        includeAll=True,
        multi=True,
        allValue=".*",
        refresh=_RANGE,
        sort=grafana.SORT_ALPHA_ASC,
    )
