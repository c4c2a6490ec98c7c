"""Alerts about servers that Prometheus scrapes itself, played by the real promtool: those that are gone are told of."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.rule_set import Sources, rule_files
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus
RUNNING = 'vllm:num_requests_running{{job="vllm", instance="{0}:8000", model_name="{1}", engine="0"}}'


def firing(program: Prometheus, folder: Path, series: dict[str, str], expected: dict[str, list[str]]) -> None:
    """Have promtool say whether each of the alerts fires about these, by the labels of each, half an hour on."""
    (folder / "rules").mkdir()
    files = rule_files(AlertSettings(), Sources("vllm"))
    for name, text in files.items():
        (folder / "rules" / name).write_text(text)
    test: dict[str, Any] = {
        "rule_files": [str(folder / "rules" / name) for name in files],
        "evaluation_interval": "15s",
        "tests": [
            {
                "interval": "15s",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": f'group by (job, instance, model_name) (ALERTS{{alertname="{name}", '
                        'alertstate="firing"})',
                        "eval_time": "30m",
                        "exp_samples": [{"labels": labels, "value": 1} for labels in who],
                    }
                    for name, who in expected.items()
                ],
            }
        ],
    }
    path = folder / "tests.yml"
    path.write_text(yaml.safe_dump(test))
    words: list[str | Path] = [program.promtool, "test", "rules", path]
    played = subprocess.run(words, capture_output=True, text=True, timeout=240, check=False)
    assert played.returncode == 0, played.stdout + played.stderr


def test_a_server_that_goes_is_told_of_with_its_model_and_one_that_never_came_without(
    prometheus_program: Prometheus, tmp_path: Path
) -> None:
    firing(
        prometheus_program,
        tmp_path,
        {
            'up{job="vllm", instance="gone:8000"}': "1x40 0x100",
            RUNNING.format("gone", "m"): "3x40 stale",
            'up{job="vllm", instance="well:8000"}': "1x140",
            RUNNING.format("well", "m"): "3x140",
            'up{job="vllm", instance="new:8000"}': "0x140",
            # Taken out of service discovery, as a pod that is replaced is.
            'up{job="vllm", instance="moved:8000"}': "1x40 stale",
            RUNNING.format("moved", "m"): "3x40 stale",
        },
        {
            "VllmServerDown": ['{job="vllm", instance="gone:8000", model_name="m"}'],
            "VllmServerNeverUp": ['{job="vllm", instance="new:8000"}'],
            "ModelWithoutServer": [],
        },
    )


def test_a_model_all_of_whose_servers_go_is_told_of(prometheus_program: Prometheus, tmp_path: Path) -> None:
    firing(
        prometheus_program,
        tmp_path,
        {
            'up{job="vllm", instance="a:8000"}': "1x40 0x100",
            RUNNING.format("a", "m"): "3x40 stale",
            'up{job="vllm", instance="b:8000"}': "1x60 0x80",
            RUNNING.format("b", "m"): "3x60 stale",
            'up{job="vllm", instance="c:8000"}': "1x140",
            RUNNING.format("c", "other"): "3x140",
        },
        {"ModelWithoutServer": ['{model_name="m"}']},
    )
