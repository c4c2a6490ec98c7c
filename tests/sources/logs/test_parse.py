"""One line is read for what it says, whatever stands around it, and nothing in it is believed that a user wrote."""

import json
import time

import pytest

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.parse import LineReader, ParsedLine

_HEAD = "(APIServer pid=7) INFO 11-30 19:16:03 [request_logger.py:65] "


def _read(*lines: str, keep_payloads: bool = False) -> list[ParsedLine]:
    reader = LineReader(LOG_CATALOG, keep_payloads=keep_payloads)
    return [reader.read(line) for line in lines]


def test_prefix_is_taken_apart() -> None:
    [line] = _read("(EngineCore_DP1 pid=4711) WARNING 11-30 19:18:48 [core.py:16] slow\r")
    assert (line.shape, line.process, line.pid, line.level) == ("vllm", "EngineCore_DP1", 4711, "warning")
    assert (line.time_text, line.source, line.message) == ("11-30 19:18:48", "core.py:16", "slow")
    assert line.more
    assert line.redacted == "(EngineCore_DP1 pid=4711) WARNING 11-30 19:18:48 [core.py:16] slow"


def test_colors_are_taken_out() -> None:
    [line] = _read("\x1b[0;36m(Worker_TP1 pid=9)\x1b[0;0m \x1b[31mERROR\x1b[0m 11-30 19:18:48 [a.py:1] x\x1b[2K")
    assert (line.process, line.level, line.message) == ("Worker_TP1", "error", "x")


def test_progress_bar_that_has_no_end_is_no_part_of_the_line_behind_it() -> None:
    bar = "\rLoading safetensors checkpoint shards:   0% Completed | 0/2"
    [line] = _read(f"{bar}\rLoading safetensors checkpoint shards:  50% Completed | 1/2")
    assert (line.shape, line.name, line.figures) == ("raw", "weights_progress", {"done_ratio": 0.5})
    [line] = _read(
        f"{bar} [00:00<?, ?it/s](Worker pid=3) INFO 11-30 19:18:57 [load.py:5] Loading weights took 2.5 seconds"
    )
    assert (line.process, line.figures) == ("Worker", {"duration_seconds": 2.5})


def test_json_is_read_as_its_line_of_text_would_be() -> None:
    record = {
        "asctime": "2026-11-30 19:36:36,014",
        "levelname": "ERROR",
        "name": "vllm.v1.engine.async_llm",
        "processName": "MainProcess",
        "process": 12,
        "message": "AsyncLLM output_handler failed.",
        "vllm_process_name": "APIServer",
        "exc_info": "Traceback (most recent call last):\n  x\nKeyError: 'password': 'mine-1'",
    }
    [line] = _read(json.dumps(record))
    assert (line.shape, line.process, line.pid, line.level) == ("json", "APIServer", 12, "error")
    assert line.time_text == "2026-11-30 19:36:36,014"
    assert line.redacted.startswith(
        "(APIServer pid=12) ERROR 2026-11-30 19:36:36,014 [vllm.v1.engine.async_llm] AsyncLLM"
    )
    assert line.redacted.endswith("KeyError: 'password': '[redacted]'")
    assert line.event == "engine_gone"


@pytest.mark.parametrize("text", ['{"levelname": ', '{"levelname": 1}', '{"levelname": "INFO", "message": 5}', "{}"])
def test_json_that_is_none_is_kept_as_it_is(text: str) -> None:
    [line] = _read(text)
    assert (line.shape, line.message) == ("raw", text)


def test_unknown_line_is_kept() -> None:
    [line] = _read("Triton is installed, but doesn't include CPU backend.")
    assert (line.shape, line.level, line.message) == (
        "raw",
        "",
        "Triton is installed, but doesn't include CPU backend.",
    )


@pytest.mark.parametrize(
    "text",
    [
        _HEAD + "Received request cmpl-1: prompt: 'CUDA out of memory', params: None",
        _HEAD + "Generated response cmpl-1: output: 'EngineDeadError', finish_reason: stop",
        'INFO:     192.0.2.1:5 - "GET /EngineDeadError HTTP/1.1" 404 Not Found',
    ],
)
def test_what_users_and_models_write_is_no_event(text: str) -> None:
    assert [line.event for line in _read(text)] == [""]


def test_request_is_told_by_its_id() -> None:
    ids = [
        line.request_id
        for line in _read(
            _HEAD + "Received request chatcmpl-9241eca8: params: SamplingParams(n=1)",
            _HEAD + "Added request cmpl-b75d-0-b225f340.",
            _HEAD + "Aborted request(s) cmpl-84d2-0-8903,cmpl-2.",
            _HEAD + "Request cmpl-84d2-0 aborted.",
            _HEAD + "Generated response chatcmpl-9 (streaming delta): output: 'a', finish_reason: None",
        )
    ]
    assert ids == ["chatcmpl-9241eca8", "cmpl-b75d-0-b225f340", "cmpl-84d2-0-8903", "cmpl-84d2-0", "chatcmpl-9"]


def test_what_follows_a_prompt_without_a_prefix_belongs_to_it() -> None:
    lines = _read(
        _HEAD + "Received request cmpl-1: prompt: 'first piece",
        "second piece: CUDA out of memory",
        "third piece",
        _HEAD + "Added request cmpl-1.",
        "kept",
    )
    assert [line.redacted for line in lines] == [
        _HEAD + "Received request cmpl-1: [redacted]",
        "[redacted]",
        "[redacted]",
        _HEAD + "Added request cmpl-1.",
        "kept",
    ]
    assert not any(line.event for line in lines)


def test_payloads_are_kept_where_that_is_asked_for_and_keys_are_not() -> None:
    [line] = _read(_HEAD + "Received request cmpl-1: prompt: 'hello sk-abcdefgh1234'", keep_payloads=True)
    assert line.redacted == _HEAD + "Received request cmpl-1: prompt: 'hello [redacted]'"


def test_line_of_megabytes_is_read_at_its_beginning() -> None:
    [line] = _read(_HEAD + "Received request cmpl-1: prompt: '" + "x" * 5_000_000)
    assert (line.request_id, line.redacted) == ("cmpl-1", _HEAD + "Received request cmpl-1: [redacted]")


def test_number_that_is_none_is_no_figure() -> None:
    [line] = _read(_HEAD + "Loading weights took 1.2.3 seconds")
    assert (line.name, line.figures) == ("weights_loaded", {})


def test_prompt_ends_where_the_next_line_of_the_same_writer_begins() -> None:
    lead = "2026-11-30T19:16:0{}Z vllm-1 "
    lines = _read(
        lead.format(3) + _HEAD + "Received request cmpl-1: prompt: 'x",
        "piece (APIServer pid=7) INFO 11-30 19:16:03 [a.py:1] not a line",
        lead.format(4) + _HEAD + "Added request cmpl-1.",
    )
    assert [line.message for line in lines] == [
        "Received request cmpl-1: [redacted]",
        "[redacted]",
        "Added request cmpl-1.",
    ]


def test_text_of_a_user_over_several_lines_of_a_logger_is_not_kept() -> None:
    lines = _read(
        _HEAD + "Regex timeout occurred when matching user input: mine\r",
        _HEAD + "and mine\r",
        _HEAD + "and this: CUDA out of memory",
        _HEAD + "Added request cmpl-1.",
    )
    assert [line.message for line in lines] == [
        "Regex timeout occurred when matching user input: [redacted]",
        "[redacted]",
        "[redacted]",
        "Added request cmpl-1.",
    ]
    assert not any(line.event for line in lines)


def test_line_that_is_ten_times_as_long_costs_about_ten_times_as_much() -> None:
    def seconds(text: str) -> float:
        reader = LineReader(LOG_CATALOG)
        begun = time.thread_time()
        for _ in range(3):
            reader.read(text)
        return time.thread_time() - begun

    for word in ("x", "a.b-", "ab ", "x@", "prompt", "sk-a", "://", "a=", "Worker proc ", "[rank0]"):
        short = min(seconds((word * 6000)[:6000]) for _ in range(3))
        long = min(seconds((word * 60000)[:60000]) for _ in range(3))
        assert long < 50 * short, word
