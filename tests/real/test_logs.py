"""The log of a real vLLM server, from its start to the death of its engine: what is read is what happened."""

import re
import signal
import time

import pytest

from tests.real.fixtures import StartVllm
from tests.real.record_logs import KEY, RECORDINGS, LogRecording, counted, exercise
from tests.real.vllm_server import VllmServer
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.parse import LineReader, ParsedLine

pytestmark = pytest.mark.real_vllm

_SHORT = "text"
_SECONDS = 20.0


def _read(server: VllmServer) -> list[ParsedLine]:
    reader = LineReader(LOG_CATALOG)
    text = server.log.read_bytes().decode(errors="replace")
    return [reader.read(line) for line in text.removesuffix("\n").split("\n")]


def _ids(lines: list[ParsedLine], milestone: str) -> set[str]:
    return {line.request_id for line in lines if line.name == milestone}


def _wait_for_event(server: VllmServer, event: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not any(line.event == event for line in _read(server)):
        assert time.monotonic() < deadline, "the log does not tell of it"
        time.sleep(0.5)


@pytest.mark.parametrize(
    "recording",
    [pytest.param(each, id=each.name, marks=() if each.name == _SHORT else pytest.mark.long) for each in RECORDINGS],
)
def test_log_from_start_to_death(recording: LogRecording, start_vllm: StartVllm) -> None:
    server = start_vllm(*recording.arguments, environment=recording.environment)
    exercise(server)
    time.sleep(1)
    totals = counted(server.page())
    lines = _read(server)
    assert [line.name for line in lines if line.name == "ready"], "it is ready"
    assert not any(line.event for line in lines), "nothing went wrong yet"
    assert all(line.process and line.level and line.time_text for line in lines if line.shape in {"vllm", "json"})
    if "--enable-log-requests" in recording.arguments:
        aborted = {each for each in _ids(lines, "request_aborted") if re.search(r"-[0-9a-f]{8}$", each)}
        assert len(_ids(lines, "request_added") - aborted) == totals["vllm:request_success_total"]
    assert KEY not in "\n".join(repr(line) for line in lines)
    for process in server.engine_processes():
        process.send_signal(signal.SIGKILL)
    _wait_for_event(server, "engine_dead")
