"""Lines are taken out of what container engines wrap them in, and put together where those cut them."""

import json

from vllmwatch.sources.logs.pieces import LONGEST_LINE, whole_lines


def _docker(text: str, stream: str = "stdout") -> str:
    return json.dumps({"log": text, "stream": stream, "time": "2026-11-30T19:16:03.1Z"})


def test_docker() -> None:
    lines = [_docker("one\n"), _docker("tw"), _docker("err\n", "stderr"), _docker("o\n"), _docker("end")]
    assert list(whole_lines(lines)) == ["one", "err", "two", "end"]


def test_containerd() -> None:
    lines = [
        "2026-11-30T19:16:03.123456789Z stdout F one",
        "2026-11-30T19:16:03.123456789Z stdout P tw",
        "2026-11-30T19:16:03.123456789Z stderr F err",
        "2026-11-30T19:16:03.123456789Z stdout F o",
    ]
    assert list(whole_lines(lines)) == ["one", "err", "two"]


def test_other_lines_are_themselves() -> None:
    lines = ['{"log": 5}', '{"log": ', "2026-11-30T19:16:03Z x", "", "  y"]
    assert list(whole_lines(lines)) == lines


def test_line_without_an_end_fills_no_memory() -> None:
    [line] = whole_lines([_docker("x" * 100_000)] * 30)
    assert len(line) == LONGEST_LINE
