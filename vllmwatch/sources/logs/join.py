"""Lines of a log joined to records: a message of several lines, or a traceback, is one thing that happened.

vLLM writes the prefix before each line of a message and a carriage return at the end of each but the last. A traceback
that nobody logged is bare, or has no more than the process before each line. Lines of several processes lie in between
each other, so each process has a record of its own that is not yet at its end.
"""

import re
from collections.abc import Iterator, Sequence

from vllmwatch.sources.logs.parse import ParsedLine

# A record takes so many lines and no more: tracebacks of vLLM have a few hundred.
MOST_LINES = 2000
_GRAVE = frozenset({"error", "critical"})
_TRACEBACK = "Traceback (most recent call last):"
_CHAINED = re.compile(r"During handling of the above exception|The above exception was the direct cause")
_EXCEPTION = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*\.)*[A-Z][A-Za-z0-9_]*(?::|$)")


class Record:
    """What a program wrote at once: its lines, of which the first says who and when."""

    def __init__(self, line: ParsedLine) -> None:
        self.lines = [line]
        self.has_traceback = _has_traceback(line)

    def add(self, line: ParsedLine) -> None:
        """Take one more line."""
        self.lines.append(line)
        self.has_traceback = self.has_traceback or _has_traceback(line)

    @property
    def first(self) -> ParsedLine:
        """The line that says who wrote it and when."""
        return self.lines[0]

    @property
    def message(self) -> str:
        """The messages of all lines."""
        return "\n".join(line.message for line in self.lines)

    @property
    def exception(self) -> str:
        """The line of the last exception of a traceback, empty where there is none."""
        if not self.has_traceback:
            return ""
        return next((text for text in reversed(self.message.split("\n")) if _EXCEPTION.match(text)), "")

    def event(self, order: Sequence[str]) -> str:
        """Return the event that it tells of, by the order of causes; empty where it tells of none."""
        told = {line.event for line in self.lines}
        return next((name for name in order if name in told), "")


class Joiner:
    """Joins lines to records. A record is handed out once nothing can follow that belongs to it."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int | None], Record] = {}

    def add(self, line: ParsedLine) -> Iterator[Record]:
        """Take the next line; yield the records that are then at their end."""
        place = (line.process, line.pid)
        record = self._open.get(place)
        if record is not None:
            if len(record.lines) < MOST_LINES and _belongs(record, line):
                record.add(line)
                return
            yield self._open.pop(place)
        record = Record(line)
        if _may_go_on(record):
            self._open[place] = record
        else:
            yield record

    def end(self) -> Iterator[Record]:
        """Yield the records that are open, since no line follows."""
        yield from self._open.values()
        self._open.clear()


def _has_traceback(line: ParsedLine) -> bool:
    return any(_is_traceback(text) for text in line.message.split("\n"))


def _is_traceback(text: str) -> bool:
    return text.lstrip(" +|").startswith(_TRACEBACK)


def _may_go_on(record: Record) -> bool:
    last = record.lines[-1]
    # The traceback of a message at level error follows it; elsewhere a line without one is all that there is.
    return last.more or not last.head or last.level in _GRAVE or record.has_traceback


def _belongs(record: Record, line: ParsedLine) -> bool:
    last = record.lines[-1]
    if line.key != record.first.key:
        return False
    if last.more:
        return True
    if line.level:  # a logger wrote both: a traceback goes on as long as time and place are the same
        return record.has_traceback or _is_traceback(line.message)
    if line.payload and last.payload:
        return True
    return _goes_on_bare(record, line.message)


def _goes_on_bare(record: Record, text: str) -> bool:
    """Tell whether a line without time and place goes on with those before it, by how tracebacks are written."""
    indented = text.startswith((" ", "\t"))
    if not record.has_traceback:
        return indented and bool(record.lines[-1].message.strip())
    last = record.lines[-1].message
    ended = bool(last) and not last.startswith((" ", "\t")) and not _is_traceback(last) and not _CHAINED.match(last)
    if not ended:
        return True
    return not text or bool(_CHAINED.match(text)) or _is_traceback(text)
