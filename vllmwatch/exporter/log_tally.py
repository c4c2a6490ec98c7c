"""What logs told of, counted: events and lines by server, and the last events with their words."""

from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from vllmwatch.catalog.logs import COUNTED_EVENTS, LEVEL, OTHER_LEVEL
from vllmwatch.sources.logs.parse import ParsedLine
from vllmwatch.sources.logs.state import EventCount, LogState

MOST_TOLD = 100
_LONGEST_WORDS = 300


@dataclass(frozen=True, slots=True)
class LogEvent:
    """An event of a log: whose, which, when it was read (Unix time), and the line, secrets taken out."""

    server: str
    event: str
    at_seconds: float
    line: str


@dataclass(frozen=True, slots=True)
class LogPlace:
    """A log that is to be followed, and why it cannot be read, if it cannot."""

    server: str
    name: str
    problem: str


@dataclass(frozen=True, slots=True)
class LogReading:
    """What was read of all logs so far, as it was saved last."""

    places: tuple[LogPlace, ...] = ()
    events: Mapping[tuple[str, str], EventCount] = field(default_factory=dict, hash=False)
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict, hash=False)
    told: tuple[LogEvent, ...] = ()


NO_LOGS = LogReading()


class LogTally:
    """Counts; begins with what was counted before."""

    def __init__(self, before: LogState) -> None:
        self._events = dict(before.events)
        self._lines = Counter(before.lines)
        self._told: deque[LogEvent] = deque(maxlen=MOST_TOLD)

    def begin(self, server: str) -> None:
        """Count from 0 what was never counted of a server."""
        for event in COUNTED_EVENTS:
            self._events.setdefault((server, event), EventCount())
        for level in LEVEL.values:
            self._lines.setdefault((server, level), 0)

    def forget(self, servers: Collection[str]) -> None:
        """Keep what was counted of these servers alone."""
        self._events = {key: value for key, value in self._events.items() if key[0] in servers}
        self._lines = Counter({key: value for key, value in self._lines.items() if key[0] in servers})

    def count(self, server: str, line: ParsedLine, event: str, now: float) -> None:
        """Count a line, and the event that it is the first to tell of, if any; `now` is Unix time."""
        self._lines[server, line.level if line.level in LEVEL.values else OTHER_LEVEL] += 1
        if event in COUNTED_EVENTS:
            self._events[server, event] = EventCount(self._events[server, event].count + 1, now)
            self._told.append(LogEvent(server, event, now, line.redacted[:_LONGEST_WORDS]))

    @property
    def events(self) -> Mapping[tuple[str, str], EventCount]:
        """Events by server and name, as they are now."""
        return dict(self._events)

    @property
    def lines(self) -> Mapping[tuple[str, str], int]:
        """Lines by server and level, as they are now."""
        return dict(self._lines)

    @property
    def told(self) -> tuple[LogEvent, ...]:
        """The last events, the oldest first."""
        return tuple(self._told)
