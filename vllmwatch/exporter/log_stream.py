"""One log that is followed: what is read of it becomes lines and events of its server."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from vllmwatch.sources.logs.follow import FileFollower
from vllmwatch.sources.logs.journal import JournalFollower
from vllmwatch.sources.logs.origin import LogKind, LogOrigin
from vllmwatch.sources.logs.parse import LineReader, ParsedLine
from vllmwatch.sources.logs.pieces import PieceJoiner
from vllmwatch.sources.logs.sift import EventSifter
from vllmwatch.sources.logs.state import StreamState

Owner = Callable[[tuple[int, int]], str]
"""Names the server that writes to a file, by its device and inode; an empty text where nobody knows."""
Told = tuple[ParsedLine, str]
"""A line, and the event that it is the first of its record to tell of, if it tells of any."""


class LogStream:
    """Follows one log. `before` is what was saved of it; without it a file may be read `from_end` on."""

    def __init__(
        self, origin: LogOrigin, reader: LineReader, before: StreamState | None = None, *, from_end: bool = False
    ) -> None:
        self.origin = origin
        known = before or StreamState()
        self.server = origin.server or known.server
        self._reader = reader
        self._pieces = PieceJoiner()
        self._sifter = EventSifter(known.remembered)
        self._follower: FileFollower | JournalFollower
        if origin.kind is LogKind.FILE:
            from_end = from_end and before is None
            self._follower = FileFollower(Path(origin.name), known.position, from_end=from_end)
        else:
            self._follower = JournalFollower(origin.name, known.cursor)

    @property
    def problem(self) -> str:
        """Why it cannot be read; empty where it can."""
        return self._follower.problem

    @property
    def state(self) -> StreamState:
        """What another stream of this log needs to go on where this one is."""
        if isinstance(self._follower, FileFollower):
            return StreamState(self.server, self._follower.position, "", self._sifter.remembered)
        return StreamState(self.server, None, self._follower.cursor, self._sifter.remembered)

    def find_owner(self, owner: Owner) -> None:
        """Ask whose log it is where nobody said."""
        if not self.server and isinstance(self._follower, FileFollower) and self._follower.identity is not None:
            self.server = owner(self._follower.identity)

    def read(self) -> tuple[Iterator[Told], bool]:
        """Read on a little; return what was told, and whether there may be more at once."""
        found = self._follower.read()
        return self._tell(found.lines), found.more

    def close(self) -> None:
        """Let the log go."""
        self._follower.close()

    def _tell(self, lines: Sequence[str]) -> Iterator[Told]:
        for text in lines:
            whole = self._pieces.add(text)
            if whole is not None:
                line = self._reader.read(whole)
                yield line, self._sifter.sift(line)
