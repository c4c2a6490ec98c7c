"""Discovery at its own pace, in a thread of its own: asked at every scrape, carried out every so often."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from dataclasses import replace
from typing import Protocol

from vllmwatch.exporter.threads import DaemonPool
from vllmwatch.sources.discovery import Discovered

# A look at the processes of a busy host takes a tenth of it.
PATIENCE_SECONDS = 2.0
_LATE = "discovery takes long (a process or a file system that hangs?); what it found last is kept"


class Discovers(Protocol):
    """Where targets come from."""

    def discover(self) -> Discovered:
        """Return the present targets and what is wrong with their sources."""
        ...


class PacedDiscovery:
    """Keeps what discovery found for `interval_seconds`.

    A look that takes longer than `patience_seconds` is not waited for, and holds up one scrape alone: what was found
    last stays, with the problem said, until the look ends.
    """

    def __init__(
        self,
        source: Discovers,
        interval_seconds: float,
        patience_seconds: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._interval_seconds = interval_seconds
        self._patience_seconds = patience_seconds
        self._clock = clock
        self._thread = DaemonPool(1, "discovery")
        self._lock = threading.Lock()
        self._found = Discovered(())
        self._due: float | None = None
        self._under_way: Future[Discovered] | None = None
        self._late = False

    def discover(self) -> Discovered:
        """Return the present targets, looked up anew where the interval has passed."""
        with self._lock:
            if self._under_way is None:
                if self._due is not None and self._clock() < self._due:
                    return self._found
                self._under_way = self._thread.submit(self._source.discover)
            return self._wait_for(self._under_way)

    def _wait_for(self, look: Future[Discovered]) -> Discovered:
        try:
            self._found = look.result(0 if self._late else self._patience_seconds)
        except FutureTimeoutError:
            self._late = True
            return replace(self._found, problems=(*self._found.problems, _LATE))
        self._under_way = None
        self._late = False
        self._due = self._clock() + self._interval_seconds
        return self._found
