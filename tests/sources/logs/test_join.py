"""What a program wrote at once is one record, whoever else wrote in between."""

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.join import MOST_LINES, Joiner, Record
from vllmwatch.sources.logs.parse import LineReader

_ENGINE = "(EngineCore pid=4) ERROR 08-29 02:16:09 [core.py:710] "
_WORKER = "(Worker_TP1 pid=5) ERROR 08-29 02:16:09 [executor.py:9] "
_INFO = "(APIServer pid=1) INFO 08-29 02:16:09 [launcher.py:195] "
_ORDER = [event.name for event in LOG_CATALOG.events]


def _join(*lines: str) -> list[Record]:
    reader, joiner = LineReader(LOG_CATALOG), Joiner()
    return [*(record for line in lines for record in joiner.add(reader.read(line))), *joiner.end()]


def _messages(*lines: str) -> list[str]:
    return [record.message for record in _join(*lines)]


def test_lines_of_one_second_and_place_are_records_of_their_own() -> None:
    assert _messages(_INFO + "Route: /a", _INFO + "Route: /b") == ["Route: /a", "Route: /b"]


def test_message_goes_on_behind_a_carriage_return() -> None:
    assert _messages(_INFO + "binding:\r", _INFO + "\tone\r", _INFO + "\ttwo", _INFO + "next") == [
        "binding:\n\tone\n\ttwo",
        "next",
    ]


def test_traceback_with_the_prefix_on_each_line_is_one_event() -> None:
    [record] = _join(
        _ENGINE + "EngineCore encountered a fatal error.",
        _ENGINE + "Traceback (most recent call last):",
        _ENGINE + '  File "core.py", line 701, in run',
        _ENGINE + "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    )
    assert record.event(_ORDER) == "cuda_out_of_memory", "the cause, not what follows from it"
    assert record.exception == "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    assert len(record.lines) == 4


def test_tracebacks_of_two_processes_in_between_each_other() -> None:
    first, second = _join(
        _ENGINE + "failed",
        _WORKER + "WorkerProc hit an exception.",
        _ENGINE + "Traceback (most recent call last):",
        _WORKER + "Traceback (most recent call last):",
        _WORKER + "KeyError: 1",
        _ENGINE + "ValueError: 2",
    )
    assert (first.exception, second.exception) == ("ValueError: 2", "KeyError: 1")
    assert second.event(_ORDER) == "worker_died"


def test_bare_traceback_with_its_chain() -> None:
    chained = (
        "Traceback (most recent call last):",
        '  File "a.py", line 8, in <module>',
        "KeyError: 1",
        "",
        "During handling of the above exception, another exception occurred:",
        "",
        "Traceback (most recent call last):",
        "    x()",
        "RuntimeError: Engine core initialization failed. See root cause above.",
    )
    first, second = _join(*chained, "nanobind: leaked 4 instances!")
    assert first.message == "\n".join(chained)
    assert first.event(_ORDER) == "engine_start_failed"
    assert second.message == "nanobind: leaked 4 instances!"


def test_traceback_with_the_process_alone() -> None:
    process = "(EngineCore pid=104) "
    first, second = _join(
        process + "Process EngineCore:",
        process + "Traceback (most recent call last):",
        process + '  File "process.py", line 314, in _bootstrap',
        process + "RuntimeError: x",
    )
    assert first.message == "Process EngineCore:"
    assert second.exception == "RuntimeError: x"


def test_indented_line_belongs_to_the_bare_line_before() -> None:
    assert _messages("a.py:1: FutureWarning: x", "  wrapper = y", "b") == [
        "a.py:1: FutureWarning: x\n  wrapper = y",
        "b",
    ]


def test_record_without_an_end_fills_no_memory() -> None:
    lines = [_ENGINE + "Traceback (most recent call last):"] + [_ENGINE + "  x"] * (MOST_LINES + 10)
    assert max(len(record.lines) for record in _join(*lines)) == MOST_LINES
