"""Discovery at its own pace."""

import threading
import time

from vllmwatch.exporter.discovery import PacedDiscovery
from vllmwatch.sources.discovery import Discovered


class Counted:
    """Discovery that says how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def discover(self) -> Discovered:
        self.asked += 1
        return Discovered((), (f"round {self.asked}",))


def test_discovery_is_carried_out_once_an_interval_however_often_it_is_asked() -> None:
    now = [100.0]
    source = Counted()
    paced = PacedDiscovery(source, 15, clock=lambda: now[0])
    for second in (0, 5, 14.9, 15, 16, 29.9, 31):
        now[0] = 100 + second
        paced.discover()
    assert source.asked == 3
    assert paced.discover().problems == ("round 3",)


class Hanging:
    """Discovery that waits to be let go, from its second round on."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.asked = 0

    def discover(self) -> Discovered:
        self.asked += 1
        if self.asked > 1:
            self.release.wait(10)
        return Discovered((), (f"round {self.asked}",))


def test_discovery_that_hangs_holds_up_one_scrape_and_keeps_what_was_found() -> None:
    source = Hanging()
    paced = PacedDiscovery(source, 0, patience_seconds=0.2)
    assert paced.discover().problems == ("round 1",)
    started = time.monotonic()
    for _ in range(20):
        first, said = paced.discover().problems
        assert first == "round 1"
        assert "takes long" in said
    assert time.monotonic() - started < 3, "only the first waits"
    assert source.asked == 2
    source.release.set()
    deadline = time.monotonic() + 5
    while paced.discover().problems[0] == "round 1":
        assert time.monotonic() < deadline
        time.sleep(0.01)
