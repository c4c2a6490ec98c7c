"""Logs become counts: each event once, kept across restarts and deaths, and no text of any line on the disk."""

import json
import os
import random
import re
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import requests

from tests.real.exporter_process import ExporterProcess
from vllmwatch.exporter.log_watch import LogWatch
from vllmwatch.sources.logs.origin import LogKind, LogOrigin
from vllmwatch.sources.logs.state import load_state

_EVENT = ("box:8000", "cuda_out_of_memory")
_SECONDS = 15.0


def _line(number: int, text: str = "torch.OutOfMemoryError: CUDA out of memory.") -> str:
    return f"(EngineCore pid=4) ERROR 08-29 {number // 60 % 24:02}:{number % 60:02}:09 [core.py:710] {text}\n"


def _append(path: Path, text: str) -> None:
    with path.open("a", newline="\n") as stream:
        stream.write(text)


def _origin(path: Path, server: str = "box:8000") -> LogOrigin:
    return LogOrigin(LogKind.FILE, str(path), server)


@contextmanager
def _watching(state: Path | None, *origins: LogOrigin, owner: str = "") -> Iterator[LogWatch]:
    watch = LogWatch(state)
    watch.configure(origins, lambda _identity: owner)
    try:
        yield watch
    finally:
        watch.close()


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _SECONDS
    while not done():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.02)


def _count(watch: LogWatch) -> int:
    counted = watch.reading().events.get(_EVENT)
    return counted.count if counted is not None else -1


def _counts(watch: LogWatch, count: int) -> bool:
    return _count(watch) == count


def test_events_count_from_0_on_and_once_a_record(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.write_text(_line(1))
    with _watching(tmp_path / "state.json", _origin(log)) as watch:
        _until(lambda: _count(watch) == 0)
        _append(log, _line(2) * 3 + "unknown\n" + _line(3))
        _until(lambda: watch.reading().lines["box:8000", "other"] == 1)
        _until(lambda: watch.reading().lines["box:8000", "error"] == 4)
        assert _count(watch) == 2, "what was there before is not counted"
        assert [told.event for told in watch.reading().told] == ["cuda_out_of_memory"] * 2


def test_counts_go_on_after_a_restart_with_what_was_written_meanwhile(tmp_path: Path) -> None:
    log, state = tmp_path / "vllm.log", tmp_path / "new" / "state.json"
    log.touch()
    with _watching(state, _origin(log)) as watch:
        _until(lambda: _count(watch) == 0)
        _append(log, _line(1))
        _until(lambda: _count(watch) == 1)
    _append(log, _line(1) + _line(2))
    log.rename(tmp_path / "vllm.log.1")
    log.write_text(_line(3))
    with _watching(state, _origin(log)) as watch:
        _until(lambda: _count(watch) == 3)
        time.sleep(0.3)
        assert _count(watch) == 3


def test_no_text_of_a_line_is_kept(tmp_path: Path) -> None:
    log, state = tmp_path / "vllm.log", tmp_path / "state.json"
    log.touch()
    with _watching(state, _origin(log)) as watch:
        _until(lambda: _count(watch) == 0)
        _append(log, _line(1) + _line(2, "Received request cmpl-1: prompt: 'Geheimnis'"))
        _append(log, _line(3, "torch.OutOfMemoryError: CUDA out of memory. prompt: 'Geheimnis'") + "half a Geheimnis")
        _until(lambda: _count(watch) == 2)
        assert "Geheimnis" not in repr(watch.reading())
    text = state.read_text()
    assert "Geheimnis" not in text
    assert "EngineCore" not in text
    assert state.stat().st_mode & 0o777 == 0o600


def test_logs_are_taken_on_and_let_go(tmp_path: Path) -> None:
    first, second = tmp_path / "a.log", tmp_path / "b.log"
    first.touch()
    with _watching(None, _origin(first)) as watch:
        _until(lambda: _count(watch) == 0)
        watch.configure((_origin(second, "box:8001"),), lambda _identity: "")
        _until(lambda: {place.server for place in watch.reading().places} == {"box:8001"})
        assert watch.reading().places[0].problem == "no such file or directory"
        assert {server for server, _ in watch.reading().events} == {"box:8001"}
        second.write_text(_line(1))
        _until(lambda: watch.reading().events["box:8001", "cuda_out_of_memory"].count == 1)
        assert watch.reading().places[0].problem == ""


def test_pattern_stands_for_the_files_that_match(tmp_path: Path) -> None:
    (tmp_path / "a.log").touch()
    (tmp_path / "b.log").touch()
    with _watching(None, _origin(tmp_path / "*.log")) as watch:
        _until(lambda: len(watch.reading().places) == 2)


def test_log_that_nobody_named_is_its_writers(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.touch()
    with _watching(None, _origin(log, ""), owner="box:9000") as watch:
        _until(lambda: bool(watch.reading().places))
        watch.configure((_origin(log, ""),), lambda _identity: "box:9000")
        _until(lambda: watch.reading().places[0].server == "box:9000")
        assert ("box:9000", "disk_full") in watch.reading().events


def test_state_that_cannot_be_written_costs_the_memory_alone(tmp_path: Path) -> None:
    log = tmp_path / "vllm.log"
    log.touch()
    (tmp_path / "file").touch()
    with _watching(tmp_path / "file" / "state.json", _origin(log)) as watch:
        _until(lambda: _count(watch) == 0)
        _append(log, _line(1))
        _until(lambda: _count(watch) == 1)


def test_state_that_is_none_is_said_and_begun_anew(tmp_path: Path) -> None:
    log, state = tmp_path / "vllm.log", tmp_path / "state.json"
    log.write_text(_line(1))
    for text in ("no json", "[]", '{"version": 9}', '{"version": 1, "streams": {"a": {}}, "events": [], "lines": []}'):
        state.write_text(text)
        with _watching(state, _origin(log)) as watch:
            _until(partial(_counts, watch, 0))
        assert load_state(state).events[_EVENT].count == 0


def _exporter(folder: Path, log: Path) -> ExporterProcess:
    config = folder / "vllmwatch.yml"
    settings = {"log_files": [f"box:8000={log}"], "log_state_file": str(folder / "state.json"), "kernel_log": ""}
    config.write_text(json.dumps(settings | {"nvml": False, "discover": False}))
    return ExporterProcess(folder, ("--config", str(config)))


def _shown(exporter: ExporterProcess) -> int:
    pattern = r'^vllmwatch_log_events_total\{server="box:8000",node="[^"]+",event="cuda_out_of_memory"\} (\d+)$'
    found = re.search(pattern, exporter.page(), re.MULTILINE)
    return int(found[1]) if found else -1


def _shows(exporter: ExporterProcess, count: int) -> bool:
    return _shown(exporter) == count


def test_exporter_that_is_killed_at_any_moment_loses_no_event_and_counts_none_twice(tmp_path: Path) -> None:
    log, chance = tmp_path / "vllm.log", random.Random(7)
    log.touch()
    written, shown, renamed_at = 0, 0, 0
    for round_number in range(4):
        exporter = _exporter(tmp_path, log)
        exporter.start()
        if round_number == 0:
            _until(partial(_shows, exporter, 0))
        end = time.monotonic() + chance.uniform(0.3, 1.5)
        while time.monotonic() < end:
            written += 1
            _append(log, _line(written) * chance.randint(1, 3))
            now = _shown(exporter)
            assert shown <= now <= written, "a count goes back, or ahead"
            shown = now
            # Of files that were renamed one after the other while nobody looked, the first and the last are read.
            if shown > renamed_at and chance.random() < 0.3:
                log.rename(tmp_path / f"vllm.log.{written}")
                log.touch()
                renamed_at = written
        os.kill(exporter.pid, signal.SIGKILL)
        exporter.stop()
    exporter = _exporter(tmp_path, log)
    exporter.start()
    _until(lambda: _shown(exporter) == written)
    events = requests.get(f"{exporter.url}/api/v1/fleet", timeout=10).json()["log_events"]
    assert {event["event"] for event in events} <= {"cuda_out_of_memory"}
    exporter.stop()
