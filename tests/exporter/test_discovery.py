"""Discovery at its own pace."""

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
