"""The JSON of boards: what Grafana's public schema knows of it, and the rules of Grafana's own linter for boards."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog import plugins
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard

from vllmwatch.catalog.boards import BOARDS
from vllmwatch.catalog.thresholds import DEFAULTS, REQUEST_OBJECTIVE
from vllmwatch.render.grafana import board_path, render_board
from vllmwatch.render.grafana.mend import SCHEMA_VERSION
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.board import Dashboard, Look
from vllmwatch.spec.threshold import Thresholds

# What Grafana reads and the schema package leaves out; each is checked below, or needs no check.
UNKNOWN_TO_THE_SCHEMA = re.compile(
    r"\.annotations\.list\[\d+\]\.(builtIn|step|titleFormat)|\.id"
    # A panel that gives false the schema package takes for one that gives nothing.
    r"|\.panels\[\d+\]\.(fieldConfig\.defaults\.custom\.spanNulls|options\.tooltip\.mode)"
)
OF_BOARDS = pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid.value)


@pytest.fixture(autouse=True, scope="module")
def kinds_of_panels() -> None:
    plugins.register_default_plugins()


def made(board: Dashboard, settings: BoardSettings | None = None) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(render_board(board, settings or BoardSettings()))
    return data


def lost(ours: Any, theirs: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each value that the schema does not know, or knows as another."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key, value in ours.items():
            yield from lost(value, theirs[key], f"{path}.{key}") if key in theirs else (f"{path}.{key}",)
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for index, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
            yield from lost(mine, other, f"{path}[{index}]")
    elif ours != theirs:
        yield path


def every(data: Any) -> Iterator[dict[str, Any]]:
    """Yield every mapping within JSON."""
    if isinstance(data, dict):
        yield data
        for value in data.values():
            yield from every(value)
    elif isinstance(data, list):
        for value in data:
            yield from every(value)


@OF_BOARDS
def test_the_public_schema_knows_every_value(board: Dashboard) -> None:
    ours = made(board)
    theirs = json.loads(JSONEncoder(sort_keys=True).encode(dashboard.Dashboard.from_json(ours)))
    assert [path for path in lost(ours, theirs) if not UNKNOWN_TO_THE_SCHEMA.fullmatch(path)] == []


def test_a_value_that_the_schema_does_not_know_would_be_found() -> None:
    ours = made(BOARDS[0])
    ours["panels"][1]["fieldConfig"]["defaults"]["units"] = "short"
    ours["panels"][1]["options"]["colourMode"] = "value"
    theirs = json.loads(JSONEncoder(sort_keys=True).encode(dashboard.Dashboard.from_json(ours)))
    found = [path for path in lost(ours, theirs) if not UNKNOWN_TO_THE_SCHEMA.fullmatch(path)]
    assert found == [".panels[1].fieldConfig.defaults.units", ".panels[1].options.colourMode"]


@OF_BOARDS
def test_it_can_be_provisioned_and_imported_as_it_is(board: Dashboard) -> None:
    data = made(board)
    assert (data["id"], data["uid"], data["schemaVersion"]) == (None, board.uid.value, SCHEMA_VERSION)
    assert "__inputs" not in data
    assert data["editable"] is False
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", data["uid"])
    assert (data["title"], data["tags"]) == (board.title, ["vllmwatch"])
    assert render_board(board, BoardSettings()) == render_board(board, BoardSettings())
    assert [len(row.panels) for row in board.rows if not row.panels] == []


@OF_BOARDS
def test_every_data_source_is_a_variable_with_a_default(board: Dashboard) -> None:
    data = made(board, BoardSettings(metrics_source="mimir", logs_source="loki-2"))
    variables = {each["name"]: each for each in data["templating"]["list"]}
    assert variables["datasource"]["type"] == "datasource"
    assert variables["datasource"]["current"]["value"] == "mimir"
    if board.has_logs:
        assert variables["loki_datasource"]["current"]["value"] == "loki-2"
    allowed = [
        {"type": "prometheus", "uid": "${datasource}"},
        {"type": "loki", "uid": "${loki_datasource}"},
        {"type": "grafana", "uid": "-- Grafana --"},
    ]
    sources = [each["datasource"] for each in every(data) if "datasource" in each]
    assert len(sources) > len(board.panels)
    assert [source for source in sources if source not in allowed] == []


@OF_BOARDS
def test_a_variable_has_several_values_which_grafana_escapes_and_one_for_all(board: Dashboard) -> None:
    data = made(board)
    queried = [each for each in data["templating"]["list"] if each["type"] == "query"]
    assert [each["name"] for each in queried] == [variable.name for variable in board.variables]
    for each in queried:
        assert (each["multi"], each["includeAll"], each["allValue"]) == (True, True, ".*")
        assert each["current"]["value"] == ["$__all"]
        assert each["refresh"] == 2, "as often as the range of time changes"
    # One value alone would be put into a pattern as it is, were it not for several being possible.
    known = {each["name"] for each in queried}
    for panel in data["panels"]:
        for target in panel.get("targets", ()):
            for label, sign, name in re.findall(r'(\w+)(=~|!~|=|!=)"\$(\w+)"', target["expr"]):
                assert (name in known, sign, label) == (True, "=~", name), target["expr"]


@OF_BOARDS
def test_every_panel_says_what_it_shows(board: Dashboard) -> None:
    data = made(board)
    panels = [each for each in data["panels"] if each["type"] != "row"]
    assert [each["title"] for each in panels] == [each.title for each in board.panels]
    for panel, spec in zip(panels, board.panels, strict=True):
        assert panel["description"].endswith("."), spec.title
        assert panel["fieldConfig"]["defaults"]["noValue"] == spec.no_data
        if spec.look not in {Look.LOGS, Look.HEAT, Look.TABLE}:
            assert panel["fieldConfig"]["defaults"]["unit"], spec.title
        refs = [target["refId"] for target in panel["targets"]]
        assert refs == list("ABCDEFGHIJ"[: len(refs)])
        assert len(refs) == len(spec.queries)


@OF_BOARDS
def test_the_numbers_and_the_places_of_panels_are_their_own(board: Dashboard) -> None:
    panels = made(board)["panels"]
    numbers = [each["id"] for each in panels]
    assert numbers == list(range(1, len(panels) + 1))
    taken: dict[tuple[int, int], str] = {}
    for each in panels:
        place = each["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                assert 0 <= x < 24
                assert (x, y) not in taken, f"{each['title']} lies on {taken.get((x, y))}"
                taken[x, y] = each["title"]
    # No hole: every line is full, from the first to the last.
    height = max(y for _, y in taken) + 1
    assert len(taken) == 24 * height


@OF_BOARDS
def test_no_panel_draws_more_than_a_thousand_series(board: Dashboard) -> None:
    (most,) = [each for each in made(board)["templating"]["list"] if each["name"] == "most"]
    highest = max(int(option["value"]) for option in most["options"])
    for panel in board.panels:
        bounded = [query for query in panel.queries if "$most" in query.expression]
        assert highest * len(bounded) <= 1000, panel.title


def test_no_two_boards_have_the_same_place_or_name() -> None:
    assert len({board_path(board) for board in BOARDS}) == len({board.title for board in BOARDS}) == len(BOARDS)


def test_limits_are_the_thresholds_in_force() -> None:
    thresholds = Thresholds({**DEFAULTS.everywhere, "gpu_temperature_celsius": 80, "kv_cache_usage_ratio": 0.75})
    data = made(BOARDS[0], BoardSettings(thresholds=thresholds))
    found = {
        each["title"]: [step["value"] for step in each["fieldConfig"]["defaults"]["thresholds"]["steps"]]
        for each in data["panels"]
        if "thresholds" in each.get("fieldConfig", {}).get("defaults", {})
    }
    assert found["How hot is each GPU?"] == [None, 75, 80]
    assert found["How full is the KV cache of each engine?"] == [None, 0.7, 0.75]
    # What is above 0 colors nothing that is 0.
    assert found["How many pages fire?"][1] == pytest.approx(0, abs=1e-6)
    assert found["How many pages fire?"][1] > 0


def test_budgets_are_held_against_each_models_own_objective() -> None:
    own = {"org/Name.7B": {REQUEST_OBJECTIVE.key: 0.8}}
    data = made(BOARDS[0], BoardSettings(thresholds=Thresholds(DEFAULTS.everywhere, own)))
    (panel,) = [each for each in data["panels"] if each["title"] == "How fast is the error budget of latency used?"]
    expression = panel["targets"][0]["expr"]
    assert 'model_name!~"org/Name\\\\.7B"' in expression
    assert "/ (1 - 0.95)" in expression
    assert 'model_name="org/Name.7B"' in expression
    assert "/ (1 - 0.8)" in expression


def test_runbooks_lie_where_the_settings_say() -> None:
    data = made(BOARDS[0], BoardSettings(runbook_base_url="https://watch.example/runbooks"))
    urls = [each["url"] for each in every(data) if "url" in each and "runbook" in str(each.get("title", "")).lower()]
    assert len(urls) > 20
    assert [url for url in urls if not url.startswith("https://watch.example/runbooks/")] == []
