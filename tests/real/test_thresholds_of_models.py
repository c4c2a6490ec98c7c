"""A model with a threshold of its own is counted at its own edge, under the names that all models share."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from tests.threshold_story import OWN, STORY
from vllmwatch.catalog.alerts.latency import request_latency_budget_burning
from vllmwatch.catalog.alerts.latency._series import timed
from vllmwatch.catalog.latencies import REQUEST
from vllmwatch.catalog.recordings import recordings
from vllmwatch.catalog.thresholds import DEFAULTS, KV_CACHE_USAGE, REQUEST_LATENCY, REQUEST_OBJECTIVE
from vllmwatch.render.alert_cases import render_alert_cases
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.promtool import leaned_on, render_stories
from vllmwatch.render.rule_set import Sources, rule_files
from vllmwatch.render.rules import render_rules
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.case import Case, Kind, at
from vllmwatch.spec.threshold import Thresholds
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

GROUPS = recordings(OWN)

# All are slow, by 30 a minute: more than fifty in half an hour.
LOOSE = Case(
    Kind.FIRES,
    "a model whose objective is so loose that it cannot be missed 14.4 times as fast, nor 6 times",
    (*timed(REQUEST, "2.0", (0.5, 0.5, "80m"), model_name="loose"), *timed(REQUEST, "2.0", (1, 0.25, "80m"))),
    (at("70m", {"model_name": "loose"}),),
)


def played(program: Prometheus, folder: Path, files: dict[str, str]) -> None:
    """Play the tests among the files to promtool, which must come true."""
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    tests = [name for name in files if name.startswith("tests/")]
    words = [str(program.path.with_name("promtool")), "test", "rules", *tests]
    result = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_model_is_counted_at_its_own_edge(prometheus_program: Prometheus, tmp_path: Path) -> None:
    (latency,) = [group for group in GROUPS if group.theme == "latency"]
    needed = leaned_on(latency, GROUPS)
    rules = {f"rules/{group.theme}.yml": render_rules(group) for group in needed}
    played(prometheus_program, tmp_path, rules | {"tests/latency.yml": render_stories(needed, (STORY,))})


def test_a_loose_objective_still_wakes_somebody(prometheus_program: Prometheus, tmp_path: Path) -> None:
    thresholds = Thresholds(DEFAULTS.everywhere, {"loose": {REQUEST_OBJECTIVE.key: 0.8}})
    name = request_latency_budget_burning.ALERT.name
    settings = AlertSettings(thresholds=thresholds, severities={name: Severity.PAGE})
    alert = replace(
        request_latency_budget_burning.ALERT, cases=(LOOSE, *request_latency_budget_burning.ALERT.cases[-2:])
    )
    files = {f"rules/{name}": text for name, text in rule_files(settings, Sources()).items()}
    cases = render_alert_cases("latency", [alert], recordings(thresholds), settings)
    played(prometheus_program, tmp_path, files | {"tests/alerts_latency.yml": cases})


def test_rules_for_models_that_are_set_apart_are_taken_without_a_complaint(
    prometheus_program: Prometheus, tmp_path: Path
) -> None:
    own = {"a": {KV_CACHE_USAGE.key: 0.7, REQUEST_LATENCY.key: 10.0}, "b": {KV_CACHE_USAGE.key: 0.8}}
    settings = AlertSettings(thresholds=Thresholds(DEFAULTS.everywhere, own))
    files = rule_files(settings, Sources())
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    checked = subprocess.run(
        [prometheus_program.promtool, "check", "rules", "--lint=all", "--lint-fatal", *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
