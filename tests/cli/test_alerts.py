"""`vllmwatch alerts` without an Alertmanager; with a real one it is tested in tests/real/test_alerts_command.py."""

import json
from pathlib import Path

import pytest

from tests.cli.command_line import CommandLine
from tests.real.places import free_port
from tests.sources.backends.stand_in import answering

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


def test_where_no_alertmanager_answers_prometheus_is_asked(run: CommandLine) -> None:
    labels = {"alertname": "GpuLost", "severity": "page", "node": "box"}
    alert = {"state": "firing", "labels": labels, "annotations": {"summary": "It is gone"}, "activeAt": ""}
    with answering({"/api/v1/alerts": json.dumps({"data": {"alerts": [alert]}}).encode()}) as program:
        outcome = run(
            "alerts",
            VLLMWATCH_ALERTMANAGER_URL=f"http://127.0.0.1:{free_port()}",
            VLLMWATCH_PROMETHEUS_URL=program.url,
        )
    assert outcome.code == 0
    assert outcome.out.splitlines()[1].split() == ["page", "GpuLost", "box", "It", "is", "gone"]
    assert "Alertmanager cannot be reached; Prometheus is asked, which does not know what is muted" in outcome.err


def test_without_a_receiver_the_file_that_was_named_is_what_to_edit(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text("team: ours\n")
    for words, keys in ((("test",), "`receivers` and `page_to`"), (("test", "phone"), "`receivers`")):
        outcome = run("alerts", *words, "--config", "mine.yml")
        assert outcome.code == 1
        assert outcome.err.endswith(f"hint: Set {keys} in mine.yml.\n")


def test_where_neither_answers_both_are_named_with_their_settings(run: CommandLine) -> None:
    urls = [f"http://127.0.0.1:{free_port()}" for _ in range(2)]
    outcome = run("alerts", VLLMWATCH_ALERTMANAGER_URL=urls[0], VLLMWATCH_PROMETHEUS_URL=urls[1])
    assert (outcome.code, outcome.out) == (1, "")
    alertmanager, prometheus, hint = outcome.err.splitlines()
    assert alertmanager == f"error: {urls[0]}/api/v2/alerts: Alertmanager cannot be reached"
    assert prometheus == f"error: {urls[1]}/api/v1/alerts: Prometheus cannot be reached"
    assert "alertmanager_url and prometheus_url" in hint


def test_no_test_is_sent_through_an_alertmanager_that_is_too_old(run: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "vllmwatch.yml").write_text(RECEIVERS)
    status = json.dumps({"versionInfo": {"version": "0.25.0"}}).encode()
    with answering({"/api/v2/status": status}) as program:
        outcome = run("alerts", "test", VLLMWATCH_ALERTMANAGER_URL=program.url)
    assert outcome.code == 1
    assert "Alertmanager 0.25.0 is too old: 0.28 or newer is asked for" in outcome.err
    assert program.asked == ["GET /api/v2/status"]
