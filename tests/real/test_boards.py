"""Every expression of every board on a real Prometheus, with variables filled as Grafana fills them."""

import re
from collections.abc import Iterator

import pytest

from tests.exporter.join.page import needs_hosts_pids
from tests.fake_nvml.cards import uuid_of
from tests.real.board_gpus import BROKEN, HOT, LOST, NARROW, OLD
from tests.real.board_servers import MODEL, PATH_MODEL
from tests.real.board_world import NODE, REAL_SERVER, BoardWorld
from tests.real.grafana_variables import filled
from tests.real.vllm_server import MODEL_NAME
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.render.grafana import annotations
from vllmwatch.render.grafana.panels import expression_of
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.board import Dashboard, Panel, Query, Source

pytestmark = [
    pytest.mark.real_vllm,
    pytest.mark.real_prometheus,
    pytest.mark.real_alertmanager,
    pytest.mark.fake_nvml,
    needs_hosts_pids,
    pytest.mark.timeout(900),
]

SETTINGS = BoardSettings()
AWKWARD = {"model_name": (MODEL, PATH_MODEL), "server": (REAL_SERVER,), "node": (NODE,), "engine": ("0",)}
# No Loki is to be had where the tests run, so it has no series of its own there.
OF_LOKI = re.compile(r"\bloki_")
QUERIES = [
    pytest.param(
        query, id=f"{board.uid.value.removeprefix('vllmwatch-')}: {panel.title} {query.legend or query.column}"
    )
    for board in BOARDS
    for panel in board.panels
    for query in panel.queries
    if query.source is Source.METRICS and not OF_LOKI.search(query.expression)
]
PANELS = [(board, panel) for board in BOARDS for panel in board.panels]


def asked(query: Query) -> str:
    return expression_of(query, SETTINGS)


def narrowed() -> Iterator[tuple[Dashboard, Panel, Query]]:
    """Yield the queries that a model narrows."""
    for board, panel in PANELS:
        for query in panel.queries:
            if 'model_name=~"$model_name"' in query.expression and "model_name" in query.labels:
                yield board, panel, query


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_gives_what_it_says_it_gives(board_world: BoardWorld, query: Query) -> None:
    """With all chosen it has data at some moment, with the labels that links and legends count on, and no others."""
    expression = filled(asked(query), {})
    assert board_world.shows(expression), expression
    found = board_world.query(expression) or board_world.series(expression)
    for labels, *_ in found:
        assert set(labels) <= set(query.labels), expression


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("most", [1, 100])
def test_a_query_is_one_with_one_value_and_with_several(board_world: BoardWorld, query: Query, most: int) -> None:
    for values in ({name: chosen[:1] for name, chosen in AWKWARD.items()}, AWKWARD):
        board_world.query(filled(asked(query), values, most=most))


def test_a_model_with_an_awkward_name_narrows_to_itself(board_world: BoardWorld) -> None:
    """A path with blanks and parentheses, and a name whose full stop would match any letter."""
    shown: dict[str, int] = {}
    for _, panel, query in narrowed():
        for chosen in ((MODEL,), (PATH_MODEL,), (MODEL_NAME,), (MODEL, PATH_MODEL)):
            for labels, _ in board_world.query(filled(asked(query), {"model_name": chosen})):
                # Alerts about what no model is part of lack the label, and are left out where one is chosen.
                assert labels["model_name"] in chosen, panel.title
                shown[labels["model_name"]] = shown.get(labels["model_name"], 0) + 1
    assert {MODEL, PATH_MODEL, MODEL_NAME} <= shown.keys()
    assert min(shown.values()) > 10


@pytest.mark.parametrize(
    ("title", "label", "value"),
    [
        ("Which engines have requests and do nothing?", "server", "gpu-1:stuck"),
        ("Which engines have requests and do nothing?", "server", "gpu-1:asleep"),
        ("How many are refused?", "server", "gpu-1:rejecting"),
        ("How many are given up by their clients?", "server", "gpu-1:aborting"),
        ("Which share of requests fails?", "server", "gpu-1:erring"),
        ("When is it full, if it goes on filling like this?", "server", "gpu-1:filling"),
        ("How often did each server start?", "server", "gpu-1:restarting"),
        ("When was each server up?", "server", "gpu-1:gone-a"),
        ("Why does a server give no page?", "server", "gpu-1:web"),
        ("When did each GPU answer?", "uuid", uuid_of(LOST)),
        ("Does heat or the power brake hold clocks down?", "uuid", uuid_of(HOT)),
        ("Which XID events came last?", "uuid", uuid_of(BROKEN)),
        ("How many PCIe lanes does each use?", "uuid", uuid_of(NARROW)),
        ("How many pages were taken out of use?", "uuid", uuid_of(OLD)),
    ],
)
def test_the_one_that_is_ill_is_on_its_panel(board_world: BoardWorld, title: str, label: str, value: str) -> None:
    (panel,) = [panel for _, panel in PANELS if panel.title == title]
    found = [sample for query in panel.queries for sample in board_world.series(filled(asked(query), {}))]
    assert value in {labels[label] for labels, *_ in found}


def test_what_fires_for_the_model_is_shown_beside_what_fires_for_its_server(board_world: BoardWorld) -> None:
    """And nothing of another server is."""
    (panel,) = [panel for _, panel in PANELS if panel.title == "What fires?"]
    found = [labels for labels, _ in board_world.series(filled(asked(panel.queries[0]), {"server": ("gpu-1:stuck",)}))]
    assert {labels.get("server", "") for labels in found} == {"", "gpu-1:stuck"}


def test_a_server_that_left_is_down_and_one_that_is_there_is_up(board_world: BoardWorld) -> None:
    (panel,) = [panel for _, panel in PANELS if panel.title == "When was each server up?"]
    at_the_end = {labels["server"]: value for labels, value in board_world.query(filled(asked(panel.queries[0]), {}))}
    assert (at_the_end["gpu-1:gone-a"], at_the_end[REAL_SERVER]) == (0, 1)


def test_most_bounds_a_course_and_what_was_down_at_any_time_is_on_it(board_world: BoardWorld) -> None:
    (panel,) = [panel for _, panel in PANELS if panel.title == "When was each server up?"]
    everything = board_world.series(filled(asked(panel.queries[0]), {}, most=100))
    fallen = {labels["server"] for labels, points in everything if sum(value == 0 for _, value in points) > 2}
    most = len(fallen) + 2
    assert fallen
    assert most < len(everything)
    found = [labels["server"] for labels, _ in board_world.series(filled(asked(panel.queries[0]), {}, most=most))]
    assert len(found) == most
    assert fallen <= set(found)


def test_most_bounds_what_is_shown(board_world: BoardWorld) -> None:
    query = next(query for _, panel, query in narrowed() if panel.title == "How is each server?")
    assert len(board_world.query(filled(asked(query), {}, most=3))) == 3
    assert len(board_world.query(filled(asked(query), {}, most=50))) > 10


def test_the_worst_server_comes_first(board_world: BoardWorld) -> None:
    """What pages, then what tickets, then what is well; and the other columns are of those alone."""
    (panel,) = [panel for _, panel in PANELS if panel.title == "How is each server?"]
    state, *others = (filled(asked(query), {}, most=2) for query in panel.queries)
    worst = board_world.query(state)
    assert [value for _, value in worst] == [2, 2]
    known = {labels["server"] for labels, _ in worst}
    for other in others:
        assert {labels["server"] for labels, _ in board_world.query(other)} <= known
    states = {labels["server"]: value for labels, value in board_world.query(filled(asked(panel.queries[0]), {}))}
    assert {0.0, 1.0, 1.5, 2.0} >= set(states.values()) > {2.0}
    assert states["gpu-1:stuck"] == 2
    assert states["gpu-1:web"] == 1.5, "never up, so without a model"
    assert states["gpu-1:gone-a"] > 1


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid.value)
def test_a_variable_has_values_in_its_order(board_world: BoardWorld, board: Dashboard) -> None:
    for variable in board.variables:
        match = re.fullmatch(r"label_values\((.+), (\w+)\)", variable.query)
        assert match is not None
        assert match[2] == variable.name
        found = board_world.query(f"group by ({match[2]}) (last_over_time({filled(match[1], {})}[5m]))")
        assert len(found) > 1, variable.query
        assert all(labels[variable.name] for labels, _ in found)


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.uid.value)
def test_annotations_mark_what_happened(board_world: BoardWorld, board: Dashboard) -> None:
    shown = {
        each["name"]: board_world.shows(filled(each["expr"], {}))
        for each in annotations.of_board(board)
        if "expr" in each
    }
    assert set(shown) == {"Pages", "Restarts", "Model loads", "XID events", "Changes"}
    # No server of the world loads a model while it is watched, and the world is younger than a change is old.
    assert shown["Pages"]
    assert shown["Changes"]
    assert shown["XID events"]
