"""Who is woken by what, and what keeps a page from being sent."""

import pytest

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.spec.alert import Alert, Severity, Subject

BY_NAME = {alert.name: alert for alert in ALERTS}
MUTED = [(alert, BY_NAME[cause]) for alert in ALERTS for cause in alert.causes]


def filled(alert: Alert) -> set[str]:
    """Return the labels that have a value in a case in which the alert fires."""
    return {
        label for case in alert.cases for check in case.checks for who in check.firing for label in who if who[label]
    }


def test_long_answers_wake_nobody_who_has_not_asked_for_it() -> None:
    """At 2 s, the default, whole requests of a chat are slow when all is well."""
    for name in ("RequestLatencyP99High", "RequestLatencyBudgetBurning"):
        assert (BY_NAME[name].severity, BY_NAME[name].own_severity) == (Severity.TICKET, Severity.PAGE)


def test_a_page_about_a_whole_model_is_not_muted_by_one_server_that_is_down() -> None:
    """What is silenced still mutes: whoever took a server out must hear that the others are too slow."""
    pages = [alert for alert in ALERTS if alert.subject is Subject.MODEL and alert.severity is Severity.PAGE]
    assert {alert.name for alert in pages} >= {"AvailabilityBudgetBurning", "TimeToFirstTokenBudgetBurning"}
    lasting = {"VllmServerDown", "VllmEngineStuck", "GpuLost", "GpuXidCritical"}
    assert [(alert.name, cause) for alert in pages for cause in alert.causes if cause in lasting] == []


@pytest.mark.parametrize(("effect", "cause"), MUTED, ids=lambda alert: alert.name)
def test_labels_by_which_one_mutes_the_other_have_values_on_both(effect: Alert, cause: Alert) -> None:
    """Alertmanager compares labels that are not empty alone, so that an alert without one would never be muted."""
    compared = set(effect.labels) & set(cause.labels)
    assert compared <= filled(effect)
    assert compared <= filled(cause)
