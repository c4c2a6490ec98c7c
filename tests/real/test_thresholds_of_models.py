"""A model with a threshold of its own is counted at its own edge, under the names that all models share."""

import subprocess
from pathlib import Path

import pytest

from vllmwatch.catalog.recordings import recordings
from vllmwatch.catalog.recordings.stories.words import expect, model_says, of_engine, server_says
from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.render.promtool import leaned_on, render_stories
from vllmwatch.render.rules import render_rules
from vllmwatch.spec.story import Series, Story
from vllmwatch.spec.threshold import Thresholds
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus

SLOW, SLOWER = "org/slow-1.5", "org/slow-175"
OWN = {model: {"request_latency_p99_seconds": 10.0} for model in (SLOW, "org/(other)")}
GROUPS = recordings(Thresholds(DEFAULTS.everywhere, OWN | {SLOWER: {"time_to_first_token_p99_seconds": 5.0}}))
METRIC = "vllm:e2e_request_latency_seconds"


def requests(server: str, model_name: str) -> tuple[Series, ...]:
    """Return sixty requests a minute: 30 take up to 2 s, 27 more up to 10 s, and 3 longer."""
    return (
        *(
            of_engine(f"{METRIC}_bucket", f"5000+{step}x40", server=server, model_name=model_name, le=edge)
            for edge, step in (("2.0", 30), ("10.0", 57), ("+Inf", 60))
        ),
        of_engine(f"{METRIC}_count", "5000+60x40", server=server, model_name=model_name),
    )


STORY = Story(
    "three models",
    60,
    (*requests("box:1", "llama"), *requests("box:2", SLOW), *requests("box:3", SLOWER)),
    (
        expect(
            "20m",
            "server:request_latency_slow:increase5m",
            server_says(150, "box:1"),
            server_says(15, "box:2", SLOW),
            server_says(150, "box:3", SLOWER),
        ),
        expect(
            "20m",
            "model:request_latency_slow:ratio_increase10m",
            model_says(0.5),
            model_says(0.05, SLOW),
            model_says(0.5, SLOWER),
        ),
        expect(
            "20m",
            "model:request_latency_observed:increase10m",
            *(model_says(600, model) for model in ("llama", SLOW, SLOWER)),
        ),
    ),
)


def test_each_model_is_counted_at_its_own_edge(prometheus_program: Prometheus, tmp_path: Path) -> None:
    (latency,) = [group for group in GROUPS if group.theme == "latency"]
    needed = leaned_on(latency, GROUPS)
    (tmp_path / "rules").mkdir()
    (tmp_path / "tests").mkdir()
    for group in needed:
        (tmp_path / "rules" / f"{group.theme}.yml").write_text(render_rules(group))
    (tmp_path / "tests" / "latency.yml").write_text(render_stories(needed, (STORY,)))
    promtool = prometheus_program.path.with_name("promtool")
    result = subprocess.run(
        [promtool, "test", "rules", "tests/latency.yml"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
