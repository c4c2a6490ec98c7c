"""Both promtools take the rule files without a complaint, and every story comes true in both."""

import re
import subprocess
from pathlib import Path

import pytest

from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.recordings.stories import STORIES
from vllmwatch.render.promtool import story_path
from vllmwatch.render.rules import rule_path
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

ROOT = Path(__file__).parents[2]


def promtool(program: Prometheus, *arguments: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program.path.with_name("promtool"), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_rule_files_are_valid_and_hold_every_recording(prometheus_program: Prometheus) -> None:
    paths = [rule_path(group) for group in RECORDINGS]
    result = promtool(prometheus_program, "check", "rules", "--lint=all", "--lint-fatal", *paths)
    assert result.returncode == 0, result.stdout + result.stderr
    found = sum(map(int, re.findall(r"SUCCESS: (\d+) rules found", result.stdout)))
    assert found == sum(len(group.recordings) for group in RECORDINGS)


@pytest.mark.parametrize("name", [*STORIES, "worked_example"])
def test_stories_come_true(prometheus_program: Prometheus, name: str) -> None:
    result = promtool(prometheus_program, "test", "rules", story_path(name))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "SUCCESS" in result.stdout


# Each fault is one that somebody might make in earnest; the theme's stories must tell it.
FAULTS: tuple[tuple[str, str, str], ...] = (
    ("traffic", "- (sum by", "+ (sum by"),
    ("traffic", "- (vllmwatch:server:requests_rejected", "+ (vllmwatch:server:requests_rejected"),
    ("traffic", 'vllm:request_success_total{server!=""}', "vllm:request_success_total"),
    ("latency", 'le="2.0"', 'le="2"'),
    ("latency", ">= 100)", ">= 0)"),
    ("latency", "[259199s:1h]", "[3600s:1h]"),
    (
        "errors",
        "and on (node, server) max by (node, server) (vllm:num_requests_running",
        "unless on (job) absent(vllm:num_requests_running",
    ),
    ("errors", "- (sum by (node, server, model_name)", "+ (sum by (node, server, model_name)"),
    ("errors", "[3599s:5m]", "[3599s:1m]"),
    ("caches", " offset 1h)", ")"),
    ("caches", " offset 6h", " offset 1h"),
    (
        "saturation",
        "max by (node, server, model_name) (vllmwatch:engine:kv",
        "sum by (node, server, model_name) (vllmwatch:engine:kv",
    ),
    ("saturation", "> 0.5", "> 0"),
    ("join", " unless on (node, uuid) vllmwatch:engine_gpu:info:now)", ")"),
    ("energy", "max by (node, uuid) (rate(", "sum by (node, uuid) (rate("),
    ("energy", "unless on (server)", "unless on (server, uuid)"),
    ("energy", " > bool 0", " >= bool 0"),
    ("cost", "/ 3.6e6", "/ 3.6e3"),
    ("cost", " unless on (node) vllmwatch_price_per_kilowatt_hour", ""),
    ("utilization", "min by (node, server, engine, data_type)", "max by (node, server, engine, data_type)"),
    ("utilization", " > 0)", " >= 0)"),
    (
        "health",
        "unless on (node, server, engine, model_name) (max by",
        "and on (node, server, engine, model_name) (max by",
    ),
    ("health", "max by (node, server) (resets", "sum by (node, server) (resets"),
    ("stragglers", "(0.5, ", "(0.1, "),
    ("stragglers", " > 1)", " > 0)"),
)


@pytest.mark.parametrize(("theme", "right", "wrong"), FAULTS, ids=[f"{theme}-{wrong}" for theme, _, wrong in FAULTS])
def test_a_fault_in_a_rule_is_told_by_a_story(
    newest_prometheus: Prometheus, tmp_path: Path, theme: str, right: str, wrong: str
) -> None:
    (tmp_path / "rules").mkdir()
    (tmp_path / "tests").mkdir()
    for path in (ROOT / "alerts" / "rules").glob("*.yml"):
        (tmp_path / "rules" / path.name).write_text(path.read_text())
    rules = tmp_path / "rules" / f"{theme}.yml"
    assert right in rules.read_text()
    rules.write_text(rules.read_text().replace(right, wrong))
    stories = tmp_path / "tests" / f"{theme}.yml"
    stories.write_text((ROOT / "alerts" / "tests" / f"{theme}.yml").read_text())
    result = promtool(newest_prometheus, "test", "rules", f"tests/{theme}.yml", folder=tmp_path)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "exp:" in result.stdout + result.stderr
