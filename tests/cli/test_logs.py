"""`vllmwatch logs parse` prints what is known of a log, and says plainly what it cannot read."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command_line import CommandLine

_LOG = (
    "(APIServer pid=7) INFO 12-31 19:16:03 [request_logger.py:65] Received request cmpl-1: prompt: 'mine'\n"
    "(EngineCore_DP1 pid=9) ERROR 12-31 19:16:04 [core.py:710] EngineCore encountered a fatal error.\r\n"
    "(EngineCore_DP1 pid=9) ERROR 12-31 19:16:04 [core.py:710] Traceback (most recent call last):\r\n"
    "(EngineCore_DP1 pid=9) ERROR 12-31 19:16:04 [core.py:710] torch.OutOfMemoryError: CUDA out of memory.\n"
    "(VllmWorker rank=0 pid=8) INFO 12-31 19:16:05 [a.py:1] Loading weights took 1.5 seconds\n"
    "who knows\n"
)
# 2027-01-01 00:10:00 by the clock of this host
_WRITTEN = (1798762200, 1798762200)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TZ", "UTC")
    path = tmp_path / "vllm.log"
    path.write_text(_LOG, newline="\n")
    os.utime(path, _WRITTEN)
    return path


def _parsed(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_records_are_json_lines(run: CommandLine, log: Path) -> None:
    outcome = run("logs", "parse", str(log))
    assert (outcome.code, outcome.err) == (0, "")
    # A record is printed once nothing can follow that belongs to it.
    request, weights, dead, unknown = _parsed(outcome.out)
    assert request == {
        "time": "2026-12-31T19:16:03",
        "level": "info",
        "process": "APIServer",
        "pid": 7,
        "source": "request_logger.py:65",
        "name": "request_received",
        "request_id": "cmpl-1",
        "message": "Received request cmpl-1: [redacted]",
    }
    assert (weights["name"], weights["figures"], weights["ranks"]) == (
        "weights_loaded",
        {"duration_seconds": 1.5},
        {"rank": 0},
    )
    assert (dead["event"], dead["ranks"]) == ("cuda_out_of_memory", {"dp": 1})
    assert dead["exception"] == "torch.OutOfMemoryError: CUDA out of memory."
    assert dead["message"].count("\n") == 2
    assert unknown == {"message": "who knows", "raw": True}


def test_events_alone(run: CommandLine, log: Path) -> None:
    assert [record["event"] for record in _parsed(run("logs", "parse", str(log), "--events").out)] == [
        "cuda_out_of_memory"
    ]


def test_payloads_are_kept_when_asked_for(run: CommandLine, log: Path) -> None:
    assert "mine" not in run("logs", "parse", str(log)).out
    assert "prompt: 'mine'" in run("logs", "parse", str(log), "--keep-payloads").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("logs", "parse", "/absent.log"), "/absent.log: no such file or directory"),
        (("logs", "parse", "/"), "/: is a directory"),
        (("logs", "read", "x"), "'read' is nothing that can be done with logs"),
    ],
)
def test_what_cannot_be_read_is_said(run: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    outcome = run(*arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.splitlines()[0] == f"error: {message}"
    assert "vllmwatch logs parse FILE" in outcome.err
