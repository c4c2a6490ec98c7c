"""Discovery at its own pace: asked at every scrape, carried out every so often."""

import time
from collections.abc import Callable
from typing import Protocol

from vllmwatch.sources.discovery import Discovered


class Discovers(Protocol):
    """Where targets come from."""

    def discover(self) -> Discovered:
        """Return the present targets and what is wrong with their sources."""
        ...


class PacedDiscovery:
    """Keeps what discovery found for `interval_seconds`."""

    def __init__(self, source: Discovers, interval_seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._found: Discovered | None = None
        self._due = 0.0

    def discover(self) -> Discovered:
        """Return the present targets, looked up anew where the interval has passed."""
        now = self._clock()
        if self._found is None or now >= self._due:
            self._found = self._source.discover()
            self._due = now + self._interval_seconds
        return self._found
