"""What boards ask: series that there are, counted once, few enough to draw; and where their links lead."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.catalog.boards._figures import FIGURES
from vllmwatch.render.grafana.links import of_panel, of_series
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import Color, Dashboard, Look, Panel, Query, Source
from vllmwatch.spec.promql import label_lists, names_in, without_texts

BY_UID = {board.uid: board for board in BOARDS}
SETTINGS = BoardSettings()
PANELS = [
    pytest.param(board, panel, id=f"{board.uid.value.removeprefix('vllmwatch-')}: {panel.title}")
    for board in BOARDS
    for panel in board.panels
]
OF_PANELS = pytest.mark.parametrize(("board", "panel"), PANELS)
NAMES = {name for name in FIGURES if name != "up"}


def of_metrics(panel: Panel) -> list[Query]:
    return [query for query in panel.queries if query.source is Source.METRICS]


def selectors(expression: str) -> list[tuple[str, str]]:
    """Return each name that is read, with what stands in the braces after it."""
    return re.findall(r"\b([a-z][a-zA-Z0-9_:]*|ALERTS(?:_FOR_STATE)?)\{([^{}]*)\}", expression)


def test_every_board_that_alerts_link_to_is_there() -> None:
    assert [board.uid for board in BOARDS] == list(Board)


@OF_PANELS
def test_it_reads_series_that_there_are_by_labels_that_they_have(board: Dashboard, panel: Panel) -> None:
    for query in of_metrics(panel):
        assert set(names_in(query.expression)) <= NAMES, query.expression
        assert not any(name.startswith("vllm:") for name in names_in(query.expression)), "recordings know vLLM's names"
        for name, matchers in selectors(query.expression):
            labels = set(re.findall(r"(\w+)(?:=~|!~|!=|=)", without_texts(matchers)))
            # Alerts have the labels of what they are about; the others lack them.
            known = {*FIGURES[name].labels, *(("alertstate",) if name == "ALERTS" else ())}
            assert labels <= known, f"{name}: {labels - known}"


@OF_PANELS
def test_every_variable_that_fits_narrows_it(board: Dashboard, panel: Panel) -> None:
    names = {variable.name for variable in board.variables}
    for query in of_metrics(panel):
        for name, matchers in selectors(query.expression):
            for label in names & set(FIGURES[name].labels):
                # Alerts may be about the whole of which what is chosen is a part.
                wide = name == "ALERTS" and f'{label}=~"${label}|"' in matchers
                assert wide or f'{label}=~"${label}"' in matchers, f"{panel.title}: {name} is not narrowed by {label}"


@OF_PANELS
def test_a_model_narrows_the_series_of_servers_that_do_not_say_their_model(board: Dashboard, panel: Panel) -> None:
    """Grafana's "All" is every server there is, whatever model is chosen above it."""
    if "model_name" not in {variable.name for variable in board.variables}:
        return
    for query in of_metrics(panel):
        known = [FIGURES[name].labels for name, _ in selectors(query.expression)]
        if any("server" in labels and "model_name" not in labels for labels in known):
            narrowing = r"and on \((node, )?server\) vllmwatch_target_info\{[^}]*model_name=~\"\$model_name\""
            assert re.search(narrowing, query.expression), query.expression


@OF_PANELS
def test_every_series_is_counted_once_and_they_are_few(board: Dashboard, panel: Panel) -> None:
    """Two jobs may scrape one exporter, and a thousand servers make eight thousand GPUs."""
    for query in panel.queries:
        text = query.expression
        if panel.look is Look.LOGS:
            continue
        assert any(word == "by" for word, _ in label_lists(text)) or re.match(r"(sum|max|count)\(", text), text
        bounded = text.startswith(("topk($most, ", "bottomk($most, ")) or " and on " in text
        assert bounded or set(query.labels) <= {"le"}, f"{panel.title}: {text}"


@OF_PANELS
def test_a_course_shows_the_same_few_series_for_all_of_its_range(board: Dashboard, panel: Panel) -> None:
    """`topk` alone ranks at every moment anew: series would come and go, many times more than it says."""
    for query in of_metrics(panel):
        if panel.look in {Look.LINES, Look.STATES, Look.HISTORY} and "$most" in query.expression:
            whose = re.escape(f"on ({', '.join(query.labels)})")
            pinned = rf"\((.+)\) and {whose} (topk\(\$most, max|bottomk\(\$most, min)_over_time\(\(\1\)\[\$__range:"
            assert re.match(pinned, query.expression, re.DOTALL), query.expression
            assert query.expression.endswith(" @ end()))")


@OF_PANELS
def test_where_the_low_is_bad_the_lowest_are_shown(board: Dashboard, panel: Panel) -> None:
    """Among a thousand servers that are up, the one that is down is the one to see."""
    bad = {value for value, word in panel.values.items() if word.color is Color.BAD}
    well = {value for value, word in panel.values.items() if word.color is Color.WELL}
    for query in panel.queries:
        if panel.look is Look.STATES and well:
            assert ("bottomk($most" in query.expression) == (max(bad) < min(well)), panel.title
        if panel.limits.bad_below is not None and query.labels:
            assert "bottomk($most" in query.expression, panel.title


def test_the_board_of_a_link_is_narrowed_to_the_server_on_its_node() -> None:
    """Two nodes may have a server of one name."""
    (panel,) = [panel for panel in BY_UID[Board.FLEET].panels if panel.title == "How is each server?"]
    urls = {link["title"]: link["url"] for link in of_series(panel, BY_UID[Board.FLEET], SETTINGS)}
    for title in ("The server", "Its logs"):
        assert (
            "var-server=${__data.fields.server:percentencode}&var-node=${__data.fields.node:percentencode}&"
            in urls[title]
        )


@OF_PANELS
def test_a_legend_names_whose_a_series_is(board: Dashboard, panel: Panel) -> None:
    if panel.look in {Look.TABLE, Look.LOGS, Look.NUMBER}:
        return
    legends = [query.legend for query in panel.queries]
    assert len(set(legends)) == len(legends), panel.title
    for query in panel.queries:
        shown = set(re.findall(r"\{\{(\w+)\}\}", query.legend))
        assert shown <= set(query.labels)
        for label in set(query.labels) - {"node", "uuid", "rank"}:
            # A model is known from its server, which has no other.
            assert label in shown or (label == "model_name" and "server" in shown), f"{panel.title}: {query.legend}"
        if {"server", "node"} <= set(query.labels):
            assert {"server", "node"} <= shown


@OF_PANELS
def test_links_lead_to_what_there_is(board: Dashboard, panel: Panel) -> None:
    slugs = {alert.slug for alert in ALERTS}
    for link in of_panel(panel, SETTINGS):
        assert link["url"].removeprefix(f"{SETTINGS.runbook_base_url}/") in slugs
    for link in of_series(panel, board, SETTINGS):
        if link["url"].startswith(SETTINGS.runbook_base_url):
            continue
        parts = urlsplit(link["url"])
        aim = BY_UID[Board(parts.path.removeprefix("/d/"))]
        for name, values in parse_qs(parts.query.replace("${datasource:queryparam}", "source=1")).items():
            if name.startswith("var-"):
                assert name.removeprefix("var-") in {variable.name for variable in aim.variables}
                (label,) = re.findall(r"\$\{__(?:field\.labels|data\.fields)\.(\w+):percentencode\}", values[0])
                assert label in panel.labels, f"{panel.title} has no {label}"


@OF_PANELS
def test_a_series_leads_on(board: Dashboard, panel: Panel) -> None:
    """From any series of a server to its logs, from any of a GPU to the GPU, from any of a model to its servers."""
    urls = [link["url"] for link in of_series(panel, board, SETTINGS)]
    if "server" in panel.labels:
        assert any(url.startswith(f"/d/{Board.LOGS}?var-server=") for url in urls)
        assert board.uid is Board.SERVER or any(url.startswith(f"/d/{Board.SERVER}?") for url in urls)
    if "uuid" in panel.labels:
        assert board.uid is Board.GPU or any(url.startswith(f"/d/{Board.GPU}?var-uuid=") for url in urls)
    if "model_name" in panel.labels:
        assert board.uid is Board.SERVER or any(url.startswith(f"/d/{Board.SERVER}?") for url in urls)


def test_logs_are_asked_for_by_the_labels_that_streams_have() -> None:
    asked = [
        query.expression
        for board in BOARDS
        for panel in board.panels
        for query in panel.queries
        if query.source is Source.LOGS
    ]
    assert len(asked) > 5
    for text in asked:
        (selector,) = re.findall(r"\{[^{}]*\}", text)
        assert set(re.findall(r"(\w+)(?:=~|=)", selector)) <= {"job", "node", "server"}, text
        # A stream's selector must match something that is not empty; what a person types is no part of the grammar.
        assert re.search(r'job="(vllm|kernel)"', selector)
        assert '"$search"' not in text
        found = set(re.findall(r"\| (\w+)(?:=~|!=|=)", text))
        assert found <= {"level", "event", "request_id"}, text


def test_every_alert_is_watched_on_a_panel_of_the_board_that_it_links_to() -> None:
    shown = {(board.uid, name) for board in BOARDS for panel in board.panels for name in panel.alerts}
    missing = sorted(alert.name for alert in ALERTS if (alert.board, alert.name) not in shown)
    assert missing == ["Watchdog"]
