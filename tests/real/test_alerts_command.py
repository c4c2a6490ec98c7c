"""`vllmwatch alerts` and `vllmwatch silence` against a real Alertmanager and a receiver that takes, or refuses."""

import datetime as dt
import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.alertmanager_server import AlertmanagerServer
from tests.real.places import free_port
from tests.real.prometheus_server import PrometheusServer
from tests.real.receiver import Receiver
from vllmwatch.sinks.alertmanager import send_alert
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_alertmanager
PROGRAM = Path(__file__).parents[2] / ".venv" / "bin" / "vllmwatch"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    running = Receiver()
    yield running
    running.close()


@pytest.fixture
def configuration(tmp_path: Path, receiver: Receiver, alertmanager_program: Path) -> Iterator[Path]:
    """Write vllmwatch.yml, have `vllmwatch rules` make Alertmanager's configuration of it, and run Alertmanager."""
    port = free_port()
    file = tmp_path / "vllmwatch.yml"
    file.write_text(
        f"alertmanager_url: http://127.0.0.1:{port}\n"
        f"receivers: [{{name: hook, kind: webhook, url: '{receiver.url}'}},\n"
        f"            {{name: other, kind: webhook, url: '{receiver.url}'}}]\n"
        "page_to: [hook]\n"
    )
    run(file, "rules", "--output", str(tmp_path / "rules"))
    server = AlertmanagerServer(alertmanager_program, tmp_path, tmp_path / "rules" / "alertmanager.yml", port)
    server.start()
    yield file
    server.stop()


def run(file: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    words = [str(PROGRAM), arguments[0], "--config", str(file), *arguments[1:]]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def test_a_test_page_arrives_at_the_one_that_was_asked_for(configuration: Path, receiver: Receiver) -> None:
    done = run(configuration, "alerts", "test", "other")
    assert done.returncode == 0, done.stderr
    assert "webhook: delivered" in done.stdout
    (message,) = receiver.messages
    assert message["receiver"] == "only-other"
    assert message["alerts"][0]["labels"]["alertname"] == "VllmwatchTest"
    assert "nothing is wrong" in message["alerts"][0]["annotations"]["summary"]


def test_what_else_may_have_been_counted_is_said(configuration: Path, receiver: Receiver) -> None:
    url = configuration.read_text().partition("alertmanager_url: ")[2].partition("\n")[0]
    labels = {"alertname": "VllmServerDown", "severity": "page", "team": "vllm", "server": "box:8000"}
    send_alert(url, labels, {}, dt.timedelta(minutes=5))
    done = run(configuration, "alerts", "test", "other")
    assert "webhook: delivered, unless what Alertmanager counted was a message of VllmServerDown" in done.stdout


def test_a_test_that_goes_another_way_or_is_silenced_is_no_delivery(configuration: Path, receiver: Receiver) -> None:
    configuration.write_text(f"{configuration.read_text()}team: batch\nteams: {{batch: {{page_to: [other]}}}}\n")
    strayed = run(configuration, "alerts", "test")
    assert strayed.returncode == 1
    assert "Alertmanager sends the test page to page, not to team-batch-page" in strayed.stderr
    assert run(configuration, "silence", "severity=page", "--for", "1h", "--comment", "we move").returncode == 0
    muted = run(configuration, "alerts", "test", "other")
    assert muted.returncode == 1
    assert "the test page is muted by a silence" in muted.stderr


def test_without_a_name_it_goes_the_way_of_pages(configuration: Path, receiver: Receiver) -> None:
    done = run(configuration, "alerts", "test")
    assert done.returncode == 0, done.stderr
    assert receiver.messages[0]["receiver"] == "page"


def test_a_page_that_is_refused_is_said_and_fails(configuration: Path, receiver: Receiver) -> None:
    receiver.status = 500
    done = run(configuration, "alerts", "test", "hook")
    assert done.returncode == 1
    assert "webhook: refused or unreachable" in done.stdout
    assert "error: the test page was not delivered" in done.stderr


def test_what_is_on_is_listed_and_silenced(configuration: Path, receiver: Receiver) -> None:
    assert "not even Watchdog" in run(configuration, "alerts").stdout
    run(configuration, "alerts", "test", "hook")
    listed = run(configuration, "alerts").stdout
    assert "VllmwatchTest" in listed
    assert "silence" not in listed
    refused = run(configuration, "silence", "alertname=VllmwatchTest")
    assert (refused.returncode, "--comment" in refused.stderr) == (1, True)
    made = run(configuration, "silence", "alertname=VllmwatchTest", "--for", "1h", "--comment", "we know")
    assert made.returncode == 0, made.stderr
    silence_id = made.stdout.strip()
    rows = run(configuration, "silence").stdout
    assert silence_id in rows
    assert 'alertname="VllmwatchTest"' in rows
    assert "we know" in rows
    (alert,) = json.loads(run(configuration, "alerts", "--json").stdout)
    assert (alert["state"], alert["silenced_by"]) == ("suppressed", [silence_id])
    assert run(configuration, "silence", "--expire", silence_id).returncode == 0
    assert run(configuration, "silence").stdout == "No silences.\n"
    gone = run(configuration, "silence", "--expire", "nonsense")
    assert gone.returncode == 1
    assert "Alertmanager refuses" in gone.stderr


def test_what_it_knows_of_itself_is_read(configuration: Path) -> None:
    text = configuration.read_text()
    reader = AlertmanagerReader(text.partition("alertmanager_url: ")[2].partition("\n")[0])
    assert reader.version().startswith("0.")
    assert {"nobody", "page", "only-hook", "only-other"} == set(reader.receivers())
    assert "only-other" in reader.configuration()


def test_without_an_alertmanager_it_is_prometheus_that_tells(newest_prometheus: Prometheus, tmp_path: Path) -> None:
    file = tmp_path / "vllmwatch.yml"
    file.write_text(f"alertmanager_url: http://127.0.0.1:{free_port()}\n")
    run(file, "rules", "--output", str(tmp_path))
    server = PrometheusServer(newest_prometheus, tmp_path, [], tmp_path / "rules")
    server.start()
    try:
        file.write_text(f"{file.read_text()}prometheus_url: {server.url}\n")
        deadline = time.monotonic() + 90
        while not (listed := run(file, "alerts")).stdout.startswith("SEVERITY"):
            assert time.monotonic() < deadline, listed.stdout + listed.stderr
            time.sleep(1)
        assert "Prometheus is asked" in listed.stderr
        assert "Watchdog" in {
            alert["labels"]["alertname"] for alert in json.loads(run(file, "alerts", "--json").stdout)
        }
    finally:
        server.stop()
