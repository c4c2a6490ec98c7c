"""All logs over time, followed in a thread of its own: what is shown is what was saved, so that nothing counts twice.

A process that is killed between two saves begins again where the last one was, with the counts of then; since no more
than those was ever shown, no count goes back, and nothing between is lost.
"""

import glob
import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.exporter.log_stream import LogStream, Owner
from vllmwatch.exporter.log_tally import NO_LOGS, LogPlace, LogReading, LogTally
from vllmwatch.sources.logs.origin import LogKind, LogOrigin
from vllmwatch.sources.logs.parse import LineReader
from vllmwatch.sources.logs.state import LogState, StreamState, load_state, save_state

MOST_LOGS = 256
_PAUSE_SECONDS = 0.5
_SAVE_SECONDS = 1.0
_LOOK_SECONDS = 10.0
_log = logging.getLogger(__name__)


class LogWatch:
    """Follows logs; `state_file` keeps what must outlive the process, None keeps nothing.

    `configure` says which logs, and may be called again; `reading` never waits.
    """

    def __init__(self, state_file: Path | None, clock: Callable[[], float] = time.time) -> None:
        self._state_file = state_file
        self._clock = clock
        self._lock = threading.Lock()
        self._wanted: tuple[tuple[LogOrigin, ...], Owner] = ((), _nobody)
        self._reading = NO_LOGS
        self._stop = threading.Event()
        self._changed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="logs", daemon=True)
        self._streams: dict[str, LogStream] = {}
        self._saved: dict[str, StreamState] = {}
        self._tally = LogTally(LogState())
        self._last_saved = LogState()
        self._told_of_state = False

    def configure(self, origins: Sequence[LogOrigin], owner: Owner) -> None:
        """Follow these logs from now on, and no others; `owner` names the server of those that nobody named."""
        with self._lock:
            self._wanted = (tuple(origins), owner)
        self._changed.set()
        if origins and not self._thread.is_alive() and not self._stop.is_set():
            self._thread.start()

    def reading(self) -> LogReading:
        """Return what was read so far, as it was saved last."""
        return self._reading

    def close(self) -> None:
        """Save and end; waits for the thread."""
        self._stop.set()
        self._changed.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        before = self._load()
        self._tally = LogTally(before)
        self._saved = dict(before.streams)
        first, looked_at, saved_at = True, 0.0, 0.0
        while not self._stop.is_set():
            now = time.monotonic()
            if self._changed.is_set() or now - looked_at >= _LOOK_SECONDS:
                self._changed.clear()
                self._look(from_end=first)
                first, looked_at = False, now
            busy = self._read_all()
            if not busy or time.monotonic() - saved_at >= _SAVE_SECONDS:
                self._save()
                saved_at = time.monotonic()
            if not busy:
                self._changed.wait(_PAUSE_SECONDS)
        self._save()
        for stream in self._streams.values():
            stream.close()

    def _look(self, *, from_end: bool) -> None:
        """Find out which logs there are, and whose."""
        with self._lock:
            origins, owner = self._wanted
        wanted = {f"{origin.kind}:{origin.name}": origin for origin in _expanded(origins)}
        for name in [name for name in self._streams if name not in wanted]:
            self._streams.pop(name).close()
            self._saved.pop(name, None)
        for name, origin in wanted.items():
            stream = self._streams.get(name)
            if stream is not None and stream.origin != origin:
                self._saved[name] = stream.state
                stream.close()
                stream = None
            if stream is None:
                before = self._saved.get(name)
                self._streams[name] = LogStream(origin, LineReader(LOG_CATALOG), before, from_end=from_end)
            self._streams[name].find_owner(owner)
        servers = {stream.server for stream in self._streams.values()}
        self._tally.forget(servers)
        for server in servers:
            self._tally.begin(server)

    def _read_all(self) -> bool:
        """Read on a little of each log; return whether there may be more at once."""
        busy = False
        for stream in self._streams.values():
            try:
                told, more = stream.read()
                for line, event in told:
                    self._tally.count(stream.server, line, event, self._clock())
                busy = busy or more
            except Exception:  # noqa: BLE001  one log that fails must not cost the others
                _log.exception("%s could not be followed", stream.origin.name)
        return busy

    def _load(self) -> LogState:
        if self._state_file is None:
            return LogState()
        try:
            return load_state(self._state_file)
        except (OSError, ValueError) as error:
            _log.warning("%s cannot be read (%s): logs are followed from now on", self._state_file, error)
            return LogState()

    def _save(self) -> None:
        state = LogState(
            {name: stream.state for name, stream in self._streams.items()}, self._tally.events, self._tally.lines
        )
        places = tuple(LogPlace(each.server, each.origin.name, each.problem) for each in self._streams.values())
        if self._state_file is not None and state != self._last_saved:
            try:
                save_state(self._state_file, state)
            except OSError as error:
                if not self._told_of_state:
                    _log.warning(
                        "%s cannot be written (%s): counts of logs begin anew when the exporter does",
                        self._state_file,
                        error.strerror or error,
                    )
                    self._told_of_state = True
            self._last_saved = state
        self._reading = LogReading(places, state.events, state.lines, self._tally.told)


def _expanded(origins: Sequence[LogOrigin]) -> list[LogOrigin]:
    """Return the logs with each pattern in place of which stand the files that it matches, at most `MOST_LOGS`."""
    found: list[LogOrigin] = []
    for origin in origins:
        if origin.kind is LogKind.FILE and glob.has_magic(origin.name):
            names = sorted(glob.glob(origin.name))  # noqa: PTH207  it may be absolute
            found.extend(replace(origin, name=name) for name in names)
        else:
            found.append(origin)
    return found[:MOST_LOGS]


def _nobody(_identity: tuple[int, int]) -> str:
    return ""
