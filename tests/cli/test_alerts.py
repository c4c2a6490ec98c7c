"""`vllmwatch alerts` without an Alertmanager; with a real one it is tested in tests/real/test_alerts_command.py."""

from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.real.places import free_port

RECEIVERS = """
receivers: [{name: a, kind: webhook, url_file: /a}, {name: b, kind: webhook, url_file: /b}]
page_to: [a]
teams: {chat: {page_to: [b]}}
"""


@pytest.mark.parametrize(("team", "told"), [("vllm", "a"), ("chat", "b")])
def test_a_test_page_goes_to_those_who_are_told_of_our_team(
    run: CommandLine, tmp_path: Path, team: str, told: str
) -> None:
    (tmp_path / "vllmwatch.yml").write_text(f"team: {team}\n{RECEIVERS}")
    address = f"http://u:hunter2@127.0.0.1:{free_port()}"
    outcome = run("alerts", "test", VLLMWATCH_ALERTMANAGER_URL=address)
    assert outcome.out.endswith(f" to {told}\n")
    assert outcome.code == 1
    assert "Alertmanager cannot be reached" in outcome.err
    assert "hunter2" not in outcome.out + outcome.err
