"""Where an alert's links lead: to a board that there is, narrowed by variables that it has."""

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.render.alert_rules import AlertSettings, render_alert_rules
from vllmwatch.spec.alert import Alert, Board, Subject

VARIABLES = {board.uid: {variable.name for variable in board.variables} for board in BOARDS}


def rules_of(alert: Alert) -> list[dict[str, Any]]:
    text = render_alert_rules("theme", "Help.", [alert], AlertSettings())
    rules: list[dict[str, Any]] = yaml.safe_load(text)["groups"][0]["rules"]
    return rules


def narrowed(url: str) -> tuple[Board, set[str]]:
    """Return the board of a link, and the variables that it sets, each to the label of its name."""
    parts = urlsplit(url)
    pairs = re.findall(r"var-(\w+)=\{\{ \$labels\.(\w+) \| urlquery \}\}", parts.query)
    assert len(pairs) == parts.query.count("var-")
    assert [label for name, label in pairs if name != label] == []
    return Board(parts.path.removeprefix("/d/")), {name for name, _ in pairs}


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_a_board_opens_narrowed_to_what_the_alert_is_about(alert: Alert) -> None:
    for rule in rules_of(alert):
        for annotation, aim in (("dashboard_url", alert.board), ("logs_url", Board.LOGS)):
            board, names = narrowed(rule["annotations"][annotation])
            assert board is aim
            assert names == (VARIABLES[aim] & set(alert.labels) if alert.subject is not Subject.STACK else set())


def test_what_is_paged_narrows_its_board() -> None:
    """A page that opens the board of all servers leaves the search to who was woken."""
    found = {
        alert.name: narrowed(rule["annotations"]["dashboard_url"])[1] for alert in ALERTS for rule in rules_of(alert)
    }
    assert found["VllmEngineStuck"] == {"node", "model_name", "server", "engine"}
    assert found["GpuXidCritical"] == {"node", "uuid"}
    assert [alert.name for alert in ALERTS if alert.severity == "page" and not found[alert.name]] == []
