"""Sends a page that is only a test the way that a real one goes, and watches whether it is delivered."""

import datetime as dt
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from vllmwatch.catalog.alert_names import TEST_ALERT
from vllmwatch.errors import VllmwatchError
from vllmwatch.sinks.alertmanager import send_alert
from vllmwatch.sources.backends.active import ActiveAlert
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader, Messages
from vllmwatch.spec.receiver import Receiver

_LASTS = dt.timedelta(minutes=1)
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What became of a test page at the receivers of one integration: messages tried, and tries that failed.

    `others` are alerts that go out by the same integration; a message of theirs may be the one that was counted, since
    Alertmanager tells no more than numbers.
    """

    integration: str
    expected: int
    tried: int
    failed: int
    others: tuple[str, ...] = ()

    @property
    def delivered(self) -> bool:
        """Whether each receiver took it."""
        return self.tried - self.failed >= self.expected and self.failed == 0


@dataclass(frozen=True, slots=True)
class Way:
    """The way that a test page is to go: its labels, what Alertmanager calls those who get it, and who they are.

    `integrations` tells by what each receiver of Alertmanager sends.
    """

    labels: Mapping[str, str]
    route: str
    receivers: Sequence[Receiver]
    integrations: Mapping[str, Collection[str]]


def try_page(
    reader: AlertmanagerReader,
    way: Way,
    wait_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Delivery, ...]:
    """Send a page that way and wait until all receivers were tried; returns what became of it.

    Raises VllmwatchError where Alertmanager cannot be asked, mutes the page, or sends it another way.
    """
    before = reader.messages()
    stamp = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    annotations = {
        "summary": f"This is a test of vllmwatch, sent at {stamp}: nothing is wrong",
        "description": "Somebody ran `vllmwatch alerts test` to see whether pages arrive. It is over in a minute.",
    }
    # Each try is an alert of its own, or the second would be taken for the first going on.
    send_alert(reader.base_url, {"alertname": TEST_ALERT, "sent_at": stamp, **way.labels}, annotations, _LASTS)
    deadline = clock() + wait_seconds
    while True:
        on = reader.alerts()
        _require_way(on, stamp, way)
        found = _deliveries(before, reader.messages(), way, on)
        if all(each.tried >= each.expected or each.failed for each in found) or clock() >= deadline:
            # A try that failed is counted twice, one count after the other.
            return _deliveries(before, reader.messages(), way, on)
        sleep(_LOOK_SECONDS)


def _require_way(on: Sequence[ActiveAlert], stamp: str, way: Way) -> None:
    """Raise VllmwatchError where the test page, once it is listed, goes another way, or none."""
    for alert in on:
        if alert.labels.get("alertname") != TEST_ALERT or alert.labels.get("sent_at") != stamp:
            continue
        if alert.is_muted:
            raise VllmwatchError(
                "the test page is muted by a silence or by another alert",
                hint="`vllmwatch silence` lists silences; as long as this one is in force, pages like it reach nobody.",
            )
        if way.route not in alert.receivers:
            raise VllmwatchError(
                f"Alertmanager sends the test page to {', '.join(alert.receivers) or 'nobody'}, not to {way.route}",
                hint="Give it the alertmanager.yml of `vllmwatch rules`, and have it reload.",
            )


def _deliveries(before: Messages, after: Messages, way: Way, on: Sequence[ActiveAlert]) -> tuple[Delivery, ...]:
    used = [receiver.kind.integration for receiver in way.receivers]
    return tuple(
        Delivery(
            integration,
            used.count(integration),
            after.tried.get(integration, 0) - before.tried.get(integration, 0),
            after.failed.get(integration, 0) - before.failed.get(integration, 0),
            _others(integration, way, on),
        )
        for integration in dict.fromkeys(used)
    )


def _others(integration: str, way: Way, on: Sequence[ActiveAlert]) -> tuple[str, ...]:
    """Return the names of the other alerts that may go out by an integration."""
    sent = (alert for alert in on if not alert.is_muted and alert.labels.get("alertname") != TEST_ALERT)
    names = {
        alert.labels.get("alertname", "")
        for alert in sent
        if any(integration in way.integrations.get(name, ()) for name in alert.receivers)
    }
    return tuple(sorted(names))
