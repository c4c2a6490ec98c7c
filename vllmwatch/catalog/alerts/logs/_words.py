"""What the alerts of logs share: how an event is asked for, and series of events for their cases."""

from collections.abc import Mapping

from vllmwatch.catalog.recordings.stories.words import NODE, SERVER, of_server
from vllmwatch.spec.alert import EVENT_WINDOW
from vllmwatch.spec.story import Series

_COUNTER = "vllmwatch_log_events_total"
DESCRIPTION = (
    "The log of {{ $labels.server }} on {{ $labels.node }} tells of {{ $labels.event }}, "
    '{{ $value | printf "%.0f" }} times within ten minutes.'
)


def raised(*events: str) -> str:
    """Return the expression of how often each of some events came lately, of those that did."""
    pattern = "|".join(events)
    return f'max by (node, server, event) (increase({_COUNTER}{{event=~"{pattern}"}}[{EVENT_WINDOW}])) > 0'


def logged(event: str, values: str, server: str = SERVER, **labels: str) -> Series:
    """Return the count of an event in the log of a server."""
    return of_server(_COUNTER, values, server, event=event, **labels)


def told(event: str, server: str = SERVER) -> Mapping[str, str]:
    """Return the labels of an alert about an event."""
    return {"node": NODE, "server": server, "event": event}
