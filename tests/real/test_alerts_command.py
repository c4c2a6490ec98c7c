"""`vllmwatch alerts` and `vllmwatch silence` against a real Alertmanager and a receiver that takes, or refuses."""

import contextlib
import http.server
import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.alertmanager_programs import command
from tests.real.places import free_port, last_lines
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader

pytestmark = pytest.mark.real_alertmanager
PROGRAM = Path(__file__).parents[2] / ".venv" / "bin" / "vllmwatch"


class Receiver:
    """A webhook that keeps what it is sent, and answers `status`."""

    def __init__(self) -> None:
        self.status = 200
        self.messages: list[dict[str, Any]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.messages.append(json.loads(body))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


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
    log = tmp_path / "alertmanager.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            [
                *command(alertmanager_program),
                f"--config.file={tmp_path / 'rules' / 'alertmanager.yml'}",
                f"--storage.path={tmp_path / 'data'}",
                f"--web.listen-address=127.0.0.1:{port}",
                "--cluster.listen-address=",
            ],
            stdout=out,
            stderr=out,
        )
    try:
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/-/ready", timeout=2):
                break
            assert process.poll() is None, last_lines(log)
            assert time.monotonic() < deadline, last_lines(log)
            time.sleep(0.1)
        yield file
    finally:
        process.terminate()
        process.wait(timeout=10)


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
