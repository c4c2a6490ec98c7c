"""What Grafana makes of panels: which columns have which unit, what empty cells say, how many points there are."""

import json
from typing import Any

import pytest

from vllmwatch.catalog.boards import BOARDS
from vllmwatch.render.grafana import render_board
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.board import NO_DATA, Panel

MADE: dict[str, tuple[dict[str, Any], Panel]] = {
    f"{board.uid}: {spec.title}": (panel, spec)
    for board in BOARDS
    for panel, spec in zip(
        [each for each in json.loads(render_board(board, BoardSettings()))["panels"] if each["type"] != "row"],
        board.panels,
        strict=True,
    )
}
TABLES = [pytest.param(*pair, id=name) for name, pair in MADE.items() if pair[0]["type"] == "table"]


def of_column(panel: dict[str, Any], heading: str) -> dict[str, Any]:
    """Return what holds for one column alone, by the name of the property."""
    (override,) = [
        each for each in panel["fieldConfig"]["overrides"] if each["matcher"] == {"id": "byName", "options": heading}
    ]
    return {each["id"]: each["value"] for each in override["properties"]}


@pytest.mark.parametrize(("panel", "spec"), TABLES)
def test_units_and_words_of_a_table_are_those_of_its_values_and_not_of_labels(
    panel: dict[str, Any], spec: Panel
) -> None:
    """Grafana reads a number in a label, such as the XID 79, as a number: it would become a date of 1970."""
    defaults = panel["fieldConfig"]["defaults"]
    assert not defaults.keys() & {"unit", "mappings"}
    for query in spec.queries:
        assert of_column(panel, query.column)["unit"] == query.unit.grafana


@pytest.mark.parametrize(("panel", "spec"), TABLES)
def test_a_cell_without_a_value_does_not_say_that_nothing_is_watched(panel: dict[str, Any], spec: Panel) -> None:
    defaults, (every, *_) = panel["fieldConfig"]["defaults"], panel["fieldConfig"]["overrides"]
    assert defaults["noValue"] == spec.no_data
    assert every == {
        "matcher": {"id": "byRegexp", "options": ".*"},
        "properties": [{"id": "noValue", "value": "-"}],
    }


def test_a_state_is_a_word_on_its_color() -> None:
    panel, _ = MADE["vllmwatch-fleet: How is each server?"]
    state = of_column(panel, "State")
    assert {key: (each["text"], each["color"]) for key, each in state["mappings"][0]["options"].items()} == {
        "0": ("well", "green"),
        "1": ("ticket", "orange"),
        "1.5": ("down", "red"),
        "2": ("page", "red"),
    }
    assert state["custom.cellOptions"] == {"type": "color-background"}
    assert panel["options"]["sortBy"] == [{"desc": True, "displayName": "State"}]


def test_a_history_has_fewer_points_than_grafana_refuses_to_draw() -> None:
    """It draws none of more points than half of the pixels that the panel is wide, and else as many as there are."""
    histories = [(panel, spec) for panel, spec in MADE.values() if panel["type"] == "status-history"]
    assert len(histories) > 3
    for panel, spec in histories:
        narrowest = 600 * spec.width / 24
        assert panel["maxDataPoints"] <= narrowest / 2
    assert [panel["title"] for panel, _ in MADE.values() if "maxDataPoints" in panel] == [
        panel["title"] for panel, _ in histories
    ]


def test_what_is_counted_is_unknown_where_nothing_is_known() -> None:
    """An empty answer is no zero: the rules may not be loaded, or the exporter gone."""
    counts = [
        (panel, spec) for panel, spec in MADE.values() if spec.title.startswith("How many") and panel["type"] == "stat"
    ]
    assert len(counts) > 6
    assert [spec.title for panel, spec in counts if spec.no_data == "0"] == []
    pages, _ = MADE["vllmwatch-fleet: How many pages fire?"]
    assert pages["fieldConfig"]["defaults"]["noValue"] == NO_DATA
    assert " or count(vllmwatch:server:info:now{" in pages["targets"][0]["expr"]
