"""What is kept of followed logs across a restart: where each was read to, and what was counted. No text of any line."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from vllmwatch.sources.logs.positions import Position
from vllmwatch.sources.logs.sift import Remembered

_VERSION = 1


@dataclass(frozen=True, slots=True)
class StreamState:
    """A stream: the server that writes it, where it was read to, and what its last records told of.

    A file has a position, a journal a cursor.
    """

    server: str = ""
    position: Position | None = None
    cursor: str = ""
    remembered: Remembered = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class EventCount:
    """How often a server's log told of an event, and when last (Unix time, 0 where it never did)."""

    count: int = 0
    last_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class LogState:
    """Streams by their names, events by server and name, lines by server and level."""

    streams: Mapping[str, StreamState] = field(default_factory=dict, hash=False)
    events: Mapping[tuple[str, str], EventCount] = field(default_factory=dict, hash=False)
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict, hash=False)


def load_state(path: Path) -> LogState:
    """Return what was saved, if anything was; raises OSError, and ValueError for what is no state."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return LogState()
    data = json.loads(text)
    try:
        if data["version"] != _VERSION:
            raise ValueError(f"version {data['version']} is not known")
        return LogState(
            {name: _stream(each) for name, each in data["streams"].items()},
            {(server, event): EventCount(count, last) for server, event, count, last in data["events"]},
            {(server, level): count for server, level, count in data["lines"]},
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no state of logs: {error!r}") from None


def save_state(path: Path, state: LogState) -> None:
    """Write the state, the whole of it or nothing; raises OSError."""
    data = {
        "version": _VERSION,
        "streams": {name: asdict(each) for name, each in state.streams.items()},
        "events": [[*key, each.count, each.last_seconds] for key, each in state.events.items()],
        "lines": [[*key, count] for key, count in state.lines.items()],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        json.dump(data, stream)
        stream.flush()
        os.fsync(stream.fileno())
    fresh.replace(path)


def _stream(data: Mapping[str, Any]) -> StreamState:
    position = data["position"]
    return StreamState(
        data["server"],
        Position(**position) if position is not None else None,
        data["cursor"],
        {place: (record, tuple(events)) for place, (record, events) in data["remembered"].items()},
    )
