"""Logs of real vLLM servers: each line is known or known to be nobody's, and counts are those of the metrics."""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from tests.real.record_logs import FOLDER, KEY, RECORDINGS, SECRET
from tests.real.vllm_environment import VLLM_VERSION
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.join import Joiner, Record
from vllmwatch.sources.logs.parse import LineReader, ParsedLine

_NAMES = [recording.name for recording in RECORDINGS]
_KILLED = [recording.name for recording in RECORDINGS if recording.killed]
_ABORTED = 2
# What is printed past vLLM's loggers: Python's warnings with their line of code, progress bars, nanobind, blank lines.
_NOBODYS = re.compile(
    r"$|\s|Triton is installed|\S+\.py:\d+: \w*Warning|Loading safetensors|nanobind: |See https://nanobind"
)


@cache
def _lines(name: str) -> tuple[ParsedLine, ...]:
    reader = LineReader(LOG_CATALOG)
    text = _path(name).read_bytes().decode()
    return tuple(reader.read(line) for line in text.removesuffix("\n").split("\n"))


def _records(name: str) -> list[Record]:
    joiner = Joiner()
    return [*(record for line in _lines(name) for record in joiner.add(line)), *joiner.end()]


def _path(name: str) -> Path:
    return FOLDER / f"vllm_{VLLM_VERSION}_{name}.log"


def _counted(name: str) -> dict[str, float]:
    totals: dict[str, float] = json.loads(_path(name).with_suffix(".json").read_text())
    return totals


def _named(name: str, milestone: str) -> list[ParsedLine]:
    return [line for line in _lines(name) if line.name == milestone]


@pytest.mark.parametrize("name", _NAMES)
def test_every_line_is_read_or_nobodys(name: str) -> None:
    strange = [line.message for line in _lines(name) if not line.head and not _NOBODYS.match(line.message)]
    assert strange == []
    assert sum(line.head for line in _lines(name)) > 0.6 * len(_lines(name))


@pytest.mark.parametrize("name", _NAMES)
def test_lines_of_loggers_say_who_and_when(name: str) -> None:
    for line in _lines(name):
        if line.shape in {"vllm", "json"}:
            assert line.process, line.redacted
            assert line.pid, line.redacted
            assert line.level in {"debug", "info", "warning", "error"}, line.redacted
            assert re.fullmatch(r"(\d{4}-)?\d\d-\d\d \d\d:\d\d:\d\d(,\d{3})?", line.time_text), line.redacted


@pytest.mark.parametrize("name", ["text", "json", "api_servers_2", "debug"])
def test_requests_are_as_many_as_the_metrics_counted(name: str) -> None:
    aborted = {line.request_id for line in _named(name, "request_aborted") if line.message.startswith("Aborted")}
    assert len(aborted) <= _ABORTED
    assert len(_named(name, "request_added")) - len(aborted) == _counted(name)["vllm:request_success_total"]
    assert len(_named(name, "request_received")) == len(_named(name, "request_added"))


@pytest.mark.parametrize("name", _NAMES)
def test_answers_are_as_many_as_the_metrics_counted(name: str) -> None:
    answered = [line for line in _named(name, "access") if re.search(r"POST \S+completions \S+ 200", line.message)]
    # What was aborted was answered with 200 too, before it was.
    assert 0 <= len(answered) - _counted(name)["vllm:request_success_total"] <= _ABORTED
    assert {line.probe for line in _named(name, "access") if "GET /metrics" in line.message} == {True}
    assert not any(line.probe for line in answered)


@pytest.mark.parametrize("name", _NAMES)
def test_starts_are_told_with_their_times(name: str) -> None:
    engines = 2 if name == "data_parallel_2" else 1
    servers = 2 if name in {"data_parallel_2", "api_servers_2"} else 1
    assert len(_named(name, "model_loading")) == engines
    assert len(_named(name, "ready")) == servers
    for milestone, figure in (("weights_loaded", "duration_seconds"), ("engine_started", "duration_seconds")):
        assert [line.figures[figure] > 0 for line in _named(name, milestone)] in ([True] * engines, [False] * engines)
    assert [line.figures["kv_cache_tokens"] for line in _named(name, "kv_cache_size")] == [1048576.0] * engines


@pytest.mark.parametrize("name", ["text", "json", "colored", "debug"])
def test_throughput_is_what_the_metrics_counted_over_ten_seconds(name: str) -> None:
    lines = _named(name, "throughput")
    tokens = sum(line.figures["generation_tokens_per_second"] * 10 for line in lines)
    assert tokens == pytest.approx(_counted(name)["vllm:generation_tokens_total"], rel=0.3)
    assert {line.figures["engine"] for line in lines} == {0.0}


@pytest.mark.parametrize("name", _KILLED)
def test_death_of_an_engine_is_one_record_with_its_exception(name: str) -> None:
    order = [event.name for event in LOG_CATALOG.events]
    told = [(record.event(order), record.exception.partition(":")[0]) for record in _records(name)]
    assert [each for each in told if each[0]] == [
        ("engine_dead", ""),
        ("engine_gone", "vllm.v1.engine.exceptions.EngineDeadError"),
    ]


@pytest.mark.parametrize("name", [name for name in _NAMES if name not in _KILLED])
def test_life_without_faults_has_no_event(name: str) -> None:
    # A server that is stopped may miss its engine for a moment.
    assert [line.redacted for line in _lines(name) if line.event not in {"", "engine_gone"}] == []


@pytest.mark.parametrize("name", _NAMES)
def test_nothing_that_users_wrote_is_kept(name: str) -> None:
    raw = _path(name).read_text(encoding="utf-8")
    assert (SECRET in raw) == (name == "debug"), "vLLM 0.32 writes prompts at level DEBUG alone"
    assert KEY in raw
    kept = "\n".join(repr(line) for line in _lines(name))
    assert SECRET not in kept
    assert KEY not in kept
