"""Every alert is registered, lies where its name says, leans on recordings, and points at alerts that there are."""

import importlib
import pkgutil
import re

import pytest

from vllmwatch.catalog import alerts, exporter, gpu, joined, logs
from vllmwatch.catalog.alert_names import ALERT_NAMES
from vllmwatch.catalog.alerts import ALERTS, MODULES, RUNBOOKS, THEMES
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.thresholds import THRESHOLDS
from vllmwatch.render.runbooks import SECTIONS
from vllmwatch.spec.alert import SUBJECT_LABELS, Alert, Subject
from vllmwatch.spec.promql import label_lists, names_in

BY_NAME = {alert.name: alert for alert in ALERTS}
RECORDED = {recording.name for group in RECORDINGS for recording in group.recordings}
OWN = {metric.name for metric in (*gpu.METRICS, *joined.METRICS, *logs.METRICS, *exporter.METRICS)}


def test_every_module_is_registered_once() -> None:
    found = {
        f"{package.name}.{module.name}"
        for package in pkgutil.iter_modules(alerts.__path__)
        for module in pkgutil.iter_modules(importlib.import_module(f"{alerts.__name__}.{package.name}").__path__)
        if not module.name.startswith("_")
    }
    registered = [module.__name__.removeprefix(f"{alerts.__name__}.") for module in MODULES]
    assert sorted(registered) == sorted(found)
    assert len(BY_NAME) == len(ALERTS)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.ALERT.name)
def test_a_module_is_named_after_its_alert_and_its_theme(module: object) -> None:
    alert: Alert = module.ALERT  # type: ignore[attr-defined]
    assert module.__name__.rsplit(".", 2)[1:] == [alert.theme, alert.slug]  # type: ignore[attr-defined]
    assert alert.theme in THEMES


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_an_alert_leans_on_recordings_and_series_of_ours(alert: Alert) -> None:
    names = set(names_in(alert.expression))
    assert names or alert.subject is Subject.STACK
    assert names <= RECORDED | OWN | {f"{name}_count" for name in OWN}
    for _, labels in label_lists(alert.expression):
        assert not {"gpu", "instance", "job"} & set(labels)


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_what_mutes_an_alert_exists_and_shares_a_label_with_it(alert: Alert) -> None:
    for cause in alert.causes:
        shared = set(BY_NAME[cause].labels) & set(alert.labels)
        assert shared, (alert.name, cause)
        assert alert.name not in BY_NAME[cause].causes, "two alerts would mute each other"


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_a_runbook_says_all_that_is_asked_at_three_in_the_morning(alert: Alert) -> None:
    runbook = RUNBOOKS[alert.name]
    parts = re.split(r"^## (.+)$", runbook, flags=re.MULTILINE)
    assert tuple(parts[1::2]) == SECTIONS
    assert all(text.strip() for text in parts[2::2])
    assert "\n" not in parts[0].strip(), "one sentence first"
    assert parts[0].strip().endswith(".")
    assert "`" in parts[6], "a command or a query to look with"


def test_names_told_by_files_are_those_of_the_alerts() -> None:
    assert sorted(BY_NAME) == list(ALERT_NAMES)


def test_every_threshold_is_used() -> None:
    used = {alert.threshold for alert in ALERTS if alert.threshold}
    assert used <= {threshold.key for threshold in THRESHOLDS}


def test_subjects_have_labels_that_alerts_of_ours_carry() -> None:
    assert set(SUBJECT_LABELS) == set(Subject)
