"""An event counts once a record, also across a restart, and nothing of a line is remembered."""

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.parse import LineReader
from vllmwatch.sources.logs.sift import EventSifter

_ENGINE = "(EngineCore pid=4) ERROR 08-29 02:16:09 [core.py:710] "
_LATER = "(EngineCore pid=4) ERROR 08-29 02:16:10 [core.py:710] "
_OTHER = "(Worker_TP1 pid=5) ERROR 08-29 02:16:09 [executor.py:9] "
_MEMORY = "torch.OutOfMemoryError: CUDA out of memory."


def _events(*lines: str, sifter: EventSifter | None = None) -> list[str]:
    reader, sifter = LineReader(LOG_CATALOG), sifter or EventSifter()
    return [event for line in lines if (event := sifter.sift(reader.read(line)))]


def test_once_a_record_and_again_in_the_next() -> None:
    assert _events(_ENGINE + _MEMORY, _ENGINE + _MEMORY, _LATER + _MEMORY) == ["cuda_out_of_memory"] * 2


def test_each_process_has_records_of_its_own() -> None:
    lines = (_ENGINE + _MEMORY, _OTHER + _MEMORY, _ENGINE + _MEMORY, _OTHER + _MEMORY)
    assert _events(*lines) == ["cuda_out_of_memory"] * 2


def test_each_event_of_a_record_counts() -> None:
    lines = (_ENGINE + "EngineCore encountered a fatal error.", _ENGINE + _MEMORY, _ENGINE + _MEMORY)
    assert _events(*lines) == ["engine_dead", "cuda_out_of_memory"]


def test_lines_without_a_prefix_are_one_record_until_one_with_a_prefix_comes() -> None:
    assert _events(_MEMORY, "x", _MEMORY, _ENGINE + "x", _MEMORY) == ["cuda_out_of_memory"] * 2


def test_another_sifter_goes_on_where_one_ended() -> None:
    first = EventSifter()
    assert _events(_ENGINE + _MEMORY, sifter=first) == ["cuda_out_of_memory"]
    assert _events(_ENGINE + _MEMORY, sifter=EventSifter(first.remembered)) == []
    kept = repr(first.remembered)
    assert "EngineCore" not in kept
    assert "core.py" not in kept


def test_processes_that_come_and_go_fill_no_memory() -> None:
    sifter = EventSifter()
    _events(*(f"(Worker pid={pid}) ERROR 08-29 02:16:09 [a.py:9] x" for pid in range(1000)), sifter=sifter)
    assert len(sifter.remembered) <= 256
