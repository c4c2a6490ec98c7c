"""What mutes what in Alertmanager: each cause mutes its effects about the same thing, and never what is graver."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vllmwatch.render.alert_rules import AlertSettings, severity_of
from vllmwatch.render.direct import labels_as_direct
from vllmwatch.spec.alert import Alert, Severity

# A page that were muted by a ticket would reach nobody before the morning; one by an alert without a receiver, never.
_MUTED_BY: Mapping[Severity, tuple[str, ...]] = {
    Severity.PAGE: (),
    Severity.TICKET: (f'severity!="{Severity.PAGE}"',),
}


def inhibitions(
    alerts: Sequence[Alert], settings: AlertSettings | None = None, *, direct: bool = False
) -> Iterator[dict[str, Any]]:
    """Yield the inhibitions of Alertmanager; raises ValueError where a cause and its effect share no label.

    A label that both sides lack counts as equal, so each label that is compared must not be empty on either side. What
    a model pages for by a threshold of its own is felt on all its servers: no fault of one of them mutes it.
    `direct` says that servers have the labels of a scrape.
    """
    by_name = {alert.name: alert for alert in alerts}
    in_force = settings or AlertSettings()
    effects: dict[tuple[str, tuple[str, ...], bool], list[str]] = {}
    for alert in alerts:
        for cause in alert.causes:
            shared = _shared(by_name[cause], alert, direct=direct)
            narrow = alert.own_severity is Severity.PAGE and by_name[cause].subject is not alert.subject
            if shared:
                effects.setdefault((cause, shared, narrow), []).append(alert.name)
    for (cause, shared, narrow), muted in sorted(effects.items()):
        equal = (*in_force.external_labels, *shared)
        filled = [f'{label}=~".+"' for label in equal]
        for severity in _severities(by_name[cause], in_force):
            spared = _MUTED_BY[Severity.TICKET if narrow else severity]
            yield {
                "source_matchers": [f'alertname="{cause}"', f'severity="{severity}"', *filled],
                "target_matchers": [f'alertname=~"{"|".join(sorted(muted))}"', *spared, *filled],
                "equal": list(equal),
            }


def _severities(cause: Alert, settings: AlertSettings) -> list[Severity]:
    """Return the severities with which an alert mutes others."""
    found = {severity_of(cause, settings), severity_of(cause, settings, own_threshold=True)}
    return [severity for severity in _MUTED_BY if severity in found]


def _shared(cause: Alert, effect: Alert, *, direct: bool) -> tuple[str, ...]:
    """Return the labels that both have; none where they name one thing by other labels, so that nothing is the same."""
    shared = tuple(label for label in cause.labels if label in effect.labels)
    if not shared:
        raise ValueError(f"{cause.name} and {effect.name} share no label: one would mute the other everywhere")
    if not direct:
        return shared
    ours, theirs = (labels_as_direct(alert.theme, shared) for alert in (cause, effect))
    return ours if ours == theirs else ()
