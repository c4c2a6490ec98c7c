"""The generated stages say of a line what the parser says: on the catalogue's examples, and on logs of real servers."""

from collections.abc import Sequence

import pytest

from tests.real.record_logs import FOLDER
from tests.render.alloy.interpreter import Entry, World
from tests.render.alloy.shipped import KEEPING, metadata, shipped
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.parse import LineReader, ParsedLine
from vllmwatch.spec.logline import REDACTED, LogSource

_ORDER = [event.name for event in LOG_CATALOG.events]
_VLLM = "(APIServer pid=7) INFO 11-30 19:16:03 [a.py:65] "
_LOGS = sorted(FOLDER.glob("*.log"))
_EXAMPLES: tuple[str, ...] = (
    *(line for prefix in LOG_CATALOG.prefixes for line, _ in prefix.matches),
    *(line for prefix in LOG_CATALOG.prefixes for line in prefix.misses),
    *(head + line for head in ("", _VLLM) for each in LOG_CATALOG.milestones for line, _ in each.matches),
    *(head + line for head in ("", _VLLM) for each in LOG_CATALOG.milestones for line in each.misses),
    *(head + line for head in ("", _VLLM) for event in LOG_CATALOG.events for line in (*event.matches, *event.misses)),
    *(head + line for head in ("", _VLLM) for each in LOG_CATALOG.redactions for line, _ in each.matches),
    *(head + line for head in ("", _VLLM) for each in LOG_CATALOG.redactions for line in each.misses),
)


def agrees(entry: Entry, lines: Sequence[ParsedLine]) -> None:
    """Assert that an entry says what the parser says of the lines that were joined to it."""
    first, beside = lines[0], metadata(entry)
    assert entry.labels.get("level", "") == first.level
    assert beside.get("process", "") == first.process
    assert beside.get("rank", "") == first.rank
    assert beside.get("pid", "") == ("" if first.pid is None else str(first.pid))
    told = {line.event for line in lines}
    assert beside.get("event", "") == next((name for name in _ORDER if name in told), "")
    assert beside.get("request_id", "") == next((line.request_id for line in lines if line.request_id), "")


@pytest.mark.parametrize("line", _EXAMPLES)
def test_the_examples_of_the_catalogue_are_read_alike(line: str) -> None:
    read = LineReader(LOG_CATALOG).read(line)
    found = shipped([line])
    if read.probe:
        assert found == []
        return
    (entry,) = found
    assert entry.line == read.redacted
    agrees(entry, [read])


def test_there_are_logs_of_real_servers() -> None:
    assert len(_LOGS) >= 6


@pytest.mark.parametrize("path", _LOGS, ids=lambda path: path.stem)
def test_logs_of_real_servers_are_read_alike(path: object) -> None:
    lines = _lines(path)
    reader = LineReader(LOG_CATALOG)
    read = [reader.read(line) for line in lines]
    world = World()
    found = shipped(lines, world=world)
    kept = [line for line in read if not line.probe]
    assert world.dropped == {"probe": len(read) - len(kept)}
    assert len(found) < len(kept)  # tracebacks and banners are joined
    at = 0
    for entry in found:
        until = _joined(entry, kept, at)
        agrees(entry, kept[at:until])
        at = until
    assert at == len(kept)
    assert sum(world.counted.values()) == sum("event" in metadata(entry) for entry in found)


@pytest.mark.parametrize("path", _LOGS, ids=lambda path: path.stem)
def test_what_a_real_server_told_of_users_is_in_a_stream_of_its_own_where_it_is_kept(path: object) -> None:
    lines = _lines(path)
    usual, kept = shipped(lines), shipped(lines, settings=KEEPING)
    assert len(usual) == len(kept)
    for one, other in zip(usual, kept, strict=True):
        assert other.labels.pop("payload", "") == ("kept" if one.line != other.line else "")
        assert (one.labels, one.metadata) == (other.labels, other.metadata)


def _lines(path: object) -> list[str]:
    text = (FOLDER / str(path)).read_bytes().decode()
    return text.removesuffix("\n").split("\n")


def _joined(entry: Entry, lines: Sequence[ParsedLine], start: int) -> int:
    """Return where the lines that an entry was joined from end, by its text."""
    text = lines[start].redacted
    end = start + 1
    while entry.line != text:
        assert end < len(lines), entry.line
        assert entry.line.startswith(text), (entry.line, text)
        text += f"\n{lines[end].redacted}"
        end += 1
    return end


def test_a_traceback_with_its_prefix_on_each_line_is_one_with_the_line_before_it() -> None:
    head = "(EngineCore pid=9) ERROR 11-30 19:16:03 [core.py:710] "
    lines = [
        head + "EngineCore encountered a fatal error.\r",
        head + "Traceback (most recent call last):\r",
        head + '  File "core.py", line 1, in x\r',
        head + "    y()\r",
        head + "ValueError: z",
        _VLLM + "next",
    ]
    first, exception, last = shipped(lines)
    assert first.line == "\n".join(line.removesuffix("\r") for line in lines[:4])
    assert (metadata(first)["event"], first.labels["level"]) == ("engine_dead", "error")
    assert (exception.line, exception.labels["level"]) == (lines[4], "error")
    assert last.line == lines[5]


def test_a_bare_traceback_is_one_with_the_line_before_it() -> None:
    lines = [
        "ERROR:    Exception in ASGI application",
        "Traceback (most recent call last):",
        '  File "a.py", line 1, in x',
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        'INFO:     192.0.2.9:1 - "POST /v1/completions HTTP/1.1" 500 Internal Server Error',
    ]
    first, last = shipped(lines)
    assert first.line == "\n".join(lines[:4])
    assert (metadata(first)["event"], first.labels["level"]) == ("cuda_out_of_memory", "error")
    assert last.line == lines[4]


def test_what_follows_a_probe_is_not_lost_with_it() -> None:
    probe = 'INFO:     192.0.2.9:1 - "GET /health HTTP/1.1" 200 OK'
    world = World()
    found = shipped([_VLLM + "x", probe, "CUDA error: out of memory"], world=world)
    assert [entry.line for entry in found] == [_VLLM + "x\nCUDA error: out of memory"]
    assert world.dropped == {"probe": 1}


@pytest.mark.parametrize("status", ["404 Not Found", "503 Service Unavailable"])
def test_a_probe_that_was_not_answered_well_is_kept(status: str) -> None:
    line = f'INFO:     192.0.2.9:1 - "GET /health HTTP/1.1" {status}'
    assert [entry.line for entry in shipped([line])] == [line]


def test_lines_of_two_containers_and_of_two_streams_are_joined_apart() -> None:
    one = shipped([_VLLM + "x", "  more"], container="a", stream="stderr")
    assert [entry.line for entry in one] == [_VLLM + "x\n  more"]
    assert metadata(one[0])["container"] == "a"
    assert metadata(one[0])["stream"] == "stderr"
    assert set(one[0].labels) == {"job", "node", "server", "level"}


def test_what_goes_on_after_a_pause_is_sent_as_it_is_but_not_behind_a_prompt() -> None:
    usual = shipped([_VLLM + "x", "more"], pauses=[0, 10])
    assert [entry.line for entry in usual] == [_VLLM + "x", "more"]
    assert "level" not in usual[1].labels
    prompt = shipped([_VLLM + "Received request a: prompt: 'x", "my secret", "of 2 lines"], pauses=[0, 10, 10])
    assert [entry.line for entry in prompt] == [_VLLM + f"Received request a: {REDACTED}", REDACTED, REDACTED]
    assert prompt[1].labels == {"job": "vllm", "node": "gpu1", "server": "gpu1:8000"}


def test_a_record_that_is_longer_than_any_is_cut_and_still_holds_no_prompt() -> None:
    found = shipped([_VLLM + "model_output: a", *(f"secret {number}" for number in range(2500))])
    assert len(found) == 3
    assert "secret" not in "".join(entry.line for entry in found)


def test_lines_with_a_prefix_of_ones_own_are_joined_where_alloy_knows_it() -> None:
    lines = ["gpu1> INFO 07-01 12:00:00 [a.py:1] x", "gpu1> INFO 07-01 12:00:00 [a.py:1]   y", "z"]
    told = shipped(lines, world=World({"LOG_LEAD_PATTERN": "gpu[0-9]> "}))
    assert [entry.line for entry in told] == ["\n".join(lines)]
    assert told[0].labels["level"] == "info"
    untold = shipped(lines)
    assert [entry.line for entry in untold] == lines


def test_a_record_of_json_is_stored_as_its_text() -> None:
    line = (
        '{"asctime": "2026-12-01 12:08:17,854", "levelname": "ERROR", "name": "vllm.v1.engine.core", "process": 8097, '
        '"message": "EngineCore encountered a fatal error.", "vllm_process_name": "EngineCore", '
        '"exc_info": "Traceback (most recent call last):\\n  x\\nValueError: api_key=mine-1"}'
    )
    (entry,) = shipped([line])
    assert entry.line == (
        "(EngineCore pid=8097) ERROR 2026-12-01 12:08:17,854 [vllm.v1.engine.core] EngineCore encountered a fatal "
        f"error.\nTraceback (most recent call last):\n  x\nValueError: api_key={REDACTED}"
    )
    assert entry.labels["level"] == "error"
    assert metadata(entry) == {"process": "EngineCore", "pid": "8097", "event": "engine_dead"}


@pytest.mark.parametrize("line", ['{"levelname": "INFO", "mess', '{"levelname": 5}', "{levelname}", '["levelname"]'])
def test_what_is_no_record_of_json_stays_as_it_is(line: str) -> None:
    assert [entry.line for entry in shipped([line])] == [LineReader(LOG_CATALOG).read(line).redacted]


def test_events_are_counted_by_server_on_alloys_own_page() -> None:
    world = World()
    shipped([_VLLM + "CUDA out of memory", _VLLM + "CUDA out of memory", _VLLM + "x"], world=world, container="a")
    labels = (("event", "cuda_out_of_memory"), ("job", "vllm"), ("node", "gpu1"), ("server", "gpu1:8000"))
    assert world.counted == {("vllmwatch_shipped_log_events_total", labels): 2}


@pytest.mark.parametrize(
    "event", [each for each in LOG_CATALOG.events if each.source is LogSource.KERNEL], ids=lambda e: e.name
)
def test_kernel_lines_tell_of_events_of_the_kernel(event: object) -> None:
    known = next(each for each in LOG_CATALOG.events if each is event)
    for line in known.matches:
        (entry,) = shipped([line], label="kernel", level="warning")
        assert entry.labels == {"job": "kernel", "node": "gpu1", "level": "warning"}
        assert metadata(entry) == {"event": known.name}
    for line in known.misses:
        (entry,) = shipped([line], label="kernel")
        assert metadata(entry).get("event") != known.name


def test_nothing_of_a_request_makes_a_label() -> None:
    (entry,) = shipped([_VLLM + "Added request cmpl-1-0-b225f340."], service="chat")
    assert entry.labels == {"job": "vllm", "node": "gpu1", "server": "gpu1:8000", "service": "chat", "level": "info"}
    assert metadata(entry) == {"process": "APIServer", "pid": "7", "request_id": "cmpl-1-0-b225f340"}
