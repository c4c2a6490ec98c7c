"""Whatever a user writes and wherever vLLM puts it, nothing of it is in what is kept of a line."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.sources.logs.secret_lines import HEADS, MESSAGES, ODD_IDS, SECRET, TEXTS, with_traceback
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.cli.logs import as_mapping
from vllmwatch.sources.logs.join import Joiner
from vllmwatch.sources.logs.parse import LineReader


def _kept(lines: Sequence[str]) -> str:
    """Return everything that is kept of lines: each alone, and joined to records as they are printed."""
    reader, joiner = LineReader(LOG_CATALOG), Joiner()
    kept: list[str] = []
    for text in lines:
        line = reader.read(text)
        kept.append(repr(line))
        kept.extend(json.dumps(as_mapping(each, "", datetime(2026, 12, 1))) for each in joiner.add(line))  # noqa: DTZ001
    kept.extend(json.dumps(as_mapping(each, "", datetime(2026, 12, 1))) for each in joiner.end())  # noqa: DTZ001
    return "\n".join(kept)


@given(head=st.sampled_from(HEADS), message=st.sampled_from((*MESSAGES, *ODD_IDS)), text=TEXTS)
def test_what_users_write_is_not_kept(head: str, message: Callable[[str], str], text: str) -> None:
    assert SECRET not in _kept([(head + message(text)).split("\n")[0]])


@given(message=st.sampled_from(MESSAGES), text=TEXTS)
def test_nor_in_json(message: Callable[[str], str], text: str) -> None:
    assert SECRET not in _kept([with_traceback(message(text))])


@given(
    message=st.sampled_from(MESSAGES),
    text=TEXTS,
    cuts=st.lists(st.integers(220, 700), max_size=3),
    filler=st.integers(0, 600),
)
def test_nor_in_pieces_of_a_line(message: Callable[[str], str], text: str, cuts: list[int], filler: int) -> None:
    # A user who puts what looks like a prefix where a piece of 16 KiB ends shows nothing but the own prompt.
    assume("INFO" not in text)
    whole = HEADS[0] + message("x" * filler + text).replace("\n", " ")
    ends = [0, *sorted(set(cuts)), len(whole) + 700]
    assert SECRET not in _kept([whole[start:end] for start, end in pairwise(ends)])


@given(
    before=st.sampled_from(("", "x ", '{"', "(")),
    secret=st.sampled_from(
        (
            "Authorization: Bearer {}",
            "authorization': 'Basic {}'",
            "?api_key={}",
            "api-key: {}",
            '"api_key": "{}"',
            "'api_key': ['{}']",
            "sk-{}abc",
            "hf_{}abcdef",
            "https://user:{}@example.org/",
            "{}@example.org",
            "password={}",
            "HF_TOKEN={}",
        )
    ),
    head=st.sampled_from(HEADS),
)
def test_what_opens_doors_is_not_kept(before: str, secret: str, head: str) -> None:
    assert SECRET not in _kept([head + "listening " + before + secret.format(SECRET) + " now"])
