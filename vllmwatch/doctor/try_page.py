"""Sends a page that is only a test the way that a real one goes, and watches whether it is delivered."""

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vllmwatch.catalog.alert_names import TEST_ALERT
from vllmwatch.sinks.alertmanager import send_alert
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader, Messages
from vllmwatch.spec.receiver import Receiver

_LASTS = dt.timedelta(minutes=1)
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a test page at the receivers of one integration: messages tried, and tries that failed."""

    integration: str
    expected: int
    tried: int
    failed: int

    @property
    def delivered(self) -> bool:
        """Whether each receiver took it."""
        return self.tried - self.failed >= self.expected and self.failed == 0


def try_page(
    reader: AlertmanagerReader,
    receivers: Sequence[Receiver],
    labels: Mapping[str, str],
    wait_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Delivery, ...]:
    """Send a page with these labels and wait until all receivers were tried; returns what became of it.

    Raises VllmwatchError where Alertmanager cannot be asked. Messages of other alerts that go out meanwhile count too:
    Alertmanager tells no more than numbers.
    """
    before = reader.messages()
    stamp = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    annotations = {
        "summary": f"This is a test of vllmwatch, sent at {stamp}: nothing is wrong",
        "description": "Somebody ran `vllmwatch alerts test` to see whether pages arrive. It is over in a minute.",
    }
    # Each try is an alert of its own, or the second would be taken for the first going on.
    send_alert(reader.base_url, {"alertname": TEST_ALERT, "sent_at": stamp, **labels}, annotations, _LASTS)
    deadline = clock() + wait_seconds
    while True:
        found = _deliveries(before, reader.messages(), receivers)
        if all(each.tried >= each.expected or each.failed for each in found) or clock() >= deadline:
            # A try that failed is counted twice, one count after the other.
            return _deliveries(before, reader.messages(), receivers)
        sleep(_LOOK_SECONDS)


def _deliveries(before: Messages, after: Messages, receivers: Sequence[Receiver]) -> tuple[Delivery, ...]:
    integrations = [receiver.kind.integration for receiver in receivers]
    return tuple(
        Delivery(
            integration,
            integrations.count(integration),
            after.tried.get(integration, 0) - before.tried.get(integration, 0),
            after.failed.get(integration, 0) - before.failed.get(integration, 0),
        )
        for integration in dict.fromkeys(integrations)
    )
