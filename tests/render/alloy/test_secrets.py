"""Whatever a user writes and wherever vLLM puts it, nothing of it reaches Loki: no line, no label, nothing beside."""

from collections.abc import Callable

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.render.alloy.shipped import EVERYTHING, KEEPING, shipped
from tests.render.alloy.test_stages import agrees
from tests.sources.logs.secret_lines import HEADS, MESSAGES, ODD_IDS, SECRET, TEXTS, with_traceback
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.sources.logs.parse import LineReader

# What opens doors, in forms in which it is known, in places where it turns up.
_KEYS: tuple[str, ...] = (
    "Authorization: Bearer {}",
    "{{'authorization': '{}'}}",
    "GET /v1/models?api_key={} HTTP/1.1",
    "password={}",
    "the key sk-{}12345678 is wrong",
    "https://me:{}@example.org/x",
    "from {}@example.org,",
)
_PLACES: tuple[str, ...] = (
    "(APIServer pid=7) INFO 11-30 19:16:03 [a.py:1] {}",
    'INFO:     192.0.2.9:1 - "{} HTTP/1.1" 200 OK',
    "(EngineCore pid=7) {}",
    "ValueError: {}",
    "{}",
)


def _sent(lines: list[str], pauses: tuple[int, ...] = (), settings: LogSettings = EVERYTHING) -> str:
    """Return everything that reaches Loki of lines."""
    found = shipped(lines, pauses=pauses, settings=settings)
    return "\n".join(repr((entry.line, entry.labels, entry.metadata)) for entry in found)


@given(head=st.sampled_from(HEADS), message=st.sampled_from((*MESSAGES, *ODD_IDS)), text=TEXTS)
def test_what_users_write_does_not_reach_loki(head: str, message: Callable[[str], str], text: str) -> None:
    assert SECRET not in _sent([(head + message(text)).split("\n")[0]])


@given(message=st.sampled_from(MESSAGES), text=TEXTS)
def test_nor_in_json(message: Callable[[str], str], text: str) -> None:
    assert SECRET not in _sent([with_traceback(message(text))])


@given(
    head=st.sampled_from([head for head in HEADS if head]),
    message=st.sampled_from(MESSAGES),
    text=TEXTS,
    pauses=st.lists(st.integers(0, 9), max_size=6),
)
def test_nor_in_lines_that_follow(head: str, message: Callable[[str], str], text: str, pauses: list[int]) -> None:
    # Of users who write what a logger would, nothing is kept apart from the lines that look so.
    lines = (head + message("x")).split("\n")
    follow = [line for line in text.split("\n") if "INFO" not in line and not line.startswith("{")]
    assume(any(SECRET in line for line in follow))
    assert SECRET not in _sent([*lines, *follow, "INFO:     next"], (0, *pauses))


@given(place=st.sampled_from(_PLACES), key=st.sampled_from(_KEYS), keeping=st.booleans())
def test_what_opens_doors_is_never_kept(place: str, key: str, keeping: bool) -> None:
    settings = KEEPING if keeping else EVERYTHING
    assert SECRET not in _sent([place.format(key.format(SECRET)), "INFO:     next"], settings=settings)


@given(head=st.sampled_from(HEADS), message=st.sampled_from((*MESSAGES, *ODD_IDS)), text=TEXTS)
def test_what_is_kept_of_a_line_is_what_the_parser_keeps(head: str, message: Callable[[str], str], text: str) -> None:
    line = (head + message(text)).split("\n")[0]
    # What counts as a space beyond ASCII is not the same to RE2 and to Python.
    assume(all(character in " \t\r\f" for character in line if character.isspace()))
    read = LineReader(LOG_CATALOG).read(line)
    found = shipped([line])
    assert [entry.line for entry in found] == ([] if read.probe else [read.redacted])
    for entry in found:
        agrees(entry, [read])


def test_what_users_write_is_kept_where_that_was_asked_for() -> None:
    line = "(APIServer pid=7) INFO 11-30 19:16:03 [a.py:65] Generated response x: output: 'CUDA out of memory'"
    sent = shipped([line, "goes on"], pauses=(0, 9), settings=KEEPING)
    assert [entry.line for entry in sent] == [line, "goes on"]
    assert [entry.labels.get("payload") for entry in sent] == ["kept", "kept"]
    assert "event" not in dict(sent[0].metadata)  # what a model says is no event
    usual = shipped(["INFO:     next"], settings=KEEPING)
    assert "payload" not in usual[0].labels
