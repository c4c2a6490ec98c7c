"""Lines as container engines keep them: taken out of their wrapping, and put together where they were cut.

Docker's json-file has one JSON object a piece, containerd and CRI-O have `time stream P|F text`. Both cut at 16 KiB;
the pieces of the two streams of a container lie in between each other. What has neither form is a line by itself.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

# Beyond it the rest of a line is passed over, so that a line without an end cannot fill the memory.
LONGEST_LINE = 1024 * 1024
_CRI = re.compile(
    r"(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}T\S+) (?P<stream>stdout|stderr) (?P<tag>[PF])(?::\S*)? (?P<text>.*)"
)


@dataclass(frozen=True, slots=True)
class _Piece:
    stream: str
    text: str
    is_last: bool


class PieceJoiner:
    """Puts the pieces of lines together; what has no end yet waits."""

    def __init__(self) -> None:
        self._begun: dict[str, str] = {}

    def add(self, line: str) -> str | None:
        """Return the line that a program wrote, or None where this was not the last piece of it."""
        piece = _docker(line) or _cri(line)
        if piece is None:
            return line
        text = (self._begun.pop(piece.stream, "") + piece.text)[:LONGEST_LINE]
        if piece.is_last:
            return text
        self._begun[piece.stream] = text
        return None

    def end(self) -> Iterator[str]:
        """Yield what has no end, since nothing follows."""
        yield from self._begun.values()
        self._begun.clear()


def whole_lines(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines that a program wrote, from the lines of a file; no newline is at the end of either.

    What the file ends in the middle of is yielded as it is.
    """
    joiner = PieceJoiner()
    for line in lines:
        whole = joiner.add(line)
        if whole is not None:
            yield whole
    yield from joiner.end()


def _docker(line: str) -> _Piece | None:
    if not line.startswith('{"log":'):
        return None
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or not isinstance(record.get("log"), str):
        return None
    text: str = record["log"]
    return _Piece(str(record.get("stream")), text.removesuffix("\n"), text.endswith("\n"))


def _cri(line: str) -> _Piece | None:
    match = _CRI.fullmatch(line)
    return None if match is None else _Piece(match["stream"], match["text"], match["tag"] == "F")
