"""Both promtools play every case of every alert; and each alert's cases tell the faults that one might make in it."""

import re
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.real.mutants import as_rule, mutants
from vllmwatch.catalog.alerts import ALERTS, THEMES
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.render.alert_cases import alert_case_path, render_alert_cases
from vllmwatch.render.alert_rules import AlertSettings, alert_rule_path, render_alert_rules
from vllmwatch.render.rules import render_rules, rule_path
from vllmwatch.spec.alert import Alert, Severity
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

ROOT = Path(__file__).parents[2]
WITH_CASES = [alert for alert in ALERTS if alert.severity is not Severity.NONE]


def promtool(program: Prometheus, *arguments: str | Path, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    words = [program.path.with_name("promtool"), *arguments]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=240, check=False)


def test_rules_are_taken_without_a_complaint(prometheus_program: Prometheus) -> None:
    paths = [alert_rule_path(theme) for theme in THEMES]
    result = promtool(prometheus_program, "check", "rules", "--lint=all", "--lint-fatal", *paths)
    assert result.returncode == 0, result.stdout + result.stderr
    assert sum(map(int, re.findall(r"SUCCESS: (\d+) rules found", result.stdout))) == len(ALERTS)


@pytest.fixture(scope="module")
def played(prometheus_program: Prometheus) -> Iterator[Mapping[str, "Future[subprocess.CompletedProcess[str]]"]]:
    """Play the cases of all themes, two at a time: promtool uses one processor. The longest begin."""
    by_length = sorted(THEMES, key=lambda theme: -(ROOT / alert_case_path(theme)).stat().st_size)
    with ThreadPoolExecutor(2) as pool:
        yield {
            theme: pool.submit(promtool, prometheus_program, "test", "rules", alert_case_path(theme))
            for theme in by_length
        }
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("theme", THEMES)
def test_cases_come_true(played: Mapping[str, "Future[subprocess.CompletedProcess[str]]"], theme: str) -> None:
    result = played[theme].result()
    assert result.returncode == 0, result.stdout + result.stderr


# Faults that change nothing of when the alert fires and for whom, with the reason.
EQUIVALENT: dict[str, set[str]] = {
    # The number that is told would be another one.
    "VllmServersMissing": {"without server in by (node, server)"},
    "VllmServerNeverUp": {
        "without the term time() - min by (node, server) (min_over_time(timestamp(vllmwatch_target_up)[6h:1m]))"
    },
    # The recordings are absent where nothing is stuck, and never 0.
    "VllmEngineStuck": {"comparison 0 (> 0) lower"},
    "VllmSchedulerStalled": {"comparison 0 (> 0) lower"},
    # A share of nothing is no number, which is above no threshold.
    "NotificationsFailing": {"comparison 0 (> 0) lower"},
}


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as the checkout's alerts/, with the recordings alone."""
    folder = tmp_path_factory.mktemp("alerts")
    for group in RECORDINGS:
        path = folder / rule_path(group).removeprefix("alerts/")
        path.parent.mkdir(exist_ok=True)
        path.write_text(render_rules(group))
    (folder / "tests").mkdir()
    return folder


@pytest.mark.long
@pytest.mark.parametrize("alert", WITH_CASES, ids=lambda alert: alert.name)
def test_cases_tell_the_faults_in_a_rule(alert: Alert, newest_prometheus: Prometheus, recordings: Path) -> None:
    settings = AlertSettings()
    rules = recordings / alert_rule_path(alert.theme).removeprefix("alerts/")
    cases = recordings / alert_case_path(alert.theme).removeprefix("alerts/")
    cases.write_text(render_alert_cases(alert.theme, [alert], RECORDINGS, settings))

    def passes(rendered: Alert) -> bool:
        rules.write_text(render_alert_rules(alert.theme, "A fault.", [rendered], settings))
        return promtool(newest_prometheus, "test", "rules", cases).returncode == 0

    assert passes(alert)
    found = list(mutants(alert))
    assert found
    survivors = {mutant.fault for mutant in found if passes(as_rule(alert, mutant))}
    assert survivors == EQUIVALENT.get(alert.name, set())
