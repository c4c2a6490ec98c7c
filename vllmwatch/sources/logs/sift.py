"""Events counted once: a traceback tells of the same one on many of its lines.

A record is what lines of one process have in common while their time and place in the code are the same; lines without
a prefix are a record until one with a prefix comes. Of each process no more is remembered than a hash of that and the
events that were told, so that it can be kept across a restart and holds no text.
"""

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from vllmwatch.sources.logs.parse import ParsedLine

_MOST_PROCESSES = 256
_BARE = "bare"
Remembered = Mapping[str, tuple[str, tuple[str, ...]]]
"""By process: the hash of the record that it writes, and the events that this told of."""


class EventSifter:
    """Tells of each event of a stream once."""

    def __init__(self, remembered: Remembered | None = None) -> None:
        self._records: OrderedDict[str, tuple[str, tuple[str, ...]]] = OrderedDict(remembered or {})

    @property
    def remembered(self) -> Remembered:
        """What another sifter needs to go on where this one ends."""
        return dict(self._records)

    def sift(self, line: ParsedLine) -> str:
        """Return the event that a line is the first of its record to tell of, or an empty text."""
        place = _hash((line.process, line.pid)) if line.head else _BARE
        record = _hash(line.key) if line.head else _BARE
        if line.head:
            self._records.pop(_BARE, None)
        known, told = self._records.pop(place, ("", ()))
        if known != record:
            told = ()
        event = "" if line.event in told else line.event
        self._records[place] = (record, (*told, event) if event else told)
        if len(self._records) > _MOST_PROCESSES:
            self._records.popitem(last=False)
        return event


def _hash(parts: Iterable[object]) -> str:
    return hashlib.sha256(repr(tuple(parts)).encode("utf-8", "replace")).hexdigest()[:16]
