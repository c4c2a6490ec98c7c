"""Rules for servers that Prometheus scrapes itself, and for GPUs of dcgm-exporter, played by the real promtool."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from vllmwatch.catalog.dcgm import DCGM_METRICS
from vllmwatch.catalog.gpu_labels import THROTTLE_REASON
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.recordings.stories import STORIES
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.direct import OF_GPUS, as_direct
from vllmwatch.render.promtool import leaned_on, render_stories
from vllmwatch.render.rule_set import Sources, rule_files
from vllmwatch.stack.prometheus import Prometheus

pytestmark = pytest.mark.real_prometheus
THEMES = [group.theme for group in RECORDINGS if group.theme not in {*OF_GPUS, "join"}]


def written(folder: Path, sources: Sources) -> list[Path]:
    files = rule_files(AlertSettings(), sources)
    (folder / "rules").mkdir()
    for name, text in files.items():
        (folder / "rules" / name).write_text(text)
    return [folder / "rules" / name for name in files]


def promtool(program: Prometheus, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([program.promtool, *arguments], capture_output=True, text=True, timeout=240, check=False)


@pytest.mark.parametrize("sources", [Sources("vllm.*"), Sources(dcgm=True), Sources("vllm", dcgm=True)], ids=str)
def test_all_rules_are_taken(sources: Sources, prometheus_program: Prometheus, tmp_path: Path) -> None:
    checked = promtool(prometheus_program, "check", "rules", "--lint=all", "--lint-fatal", *written(tmp_path, sources))
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize("theme", THEMES)
def test_stories_come_true_for_servers_that_are_scraped_directly(
    theme: str, prometheus_program: Prometheus, tmp_path: Path
) -> None:
    written(tmp_path, Sources("vllm.*"))
    (group,) = [group for group in RECORDINGS if group.theme == theme]
    tests: dict[str, Any] = yaml.safe_load(render_stories(leaned_on(group, RECORDINGS), STORIES[theme]))
    for test in tests["tests"]:
        # The labels of a scrape stand for node and server, which such series have not.
        for series in test["input_series"]:
            series["series"] = as_direct(without_scrape(series["series"]))
        # What a second job shows of the same server would be the same series; the first stays.
        test["input_series"] = [*{series["series"]: series for series in reversed(test["input_series"])}.values()]
        for check in test["promql_expr_test"]:
            for sample in check["exp_samples"]:
                sample["labels"] = as_direct(sample["labels"])
    path = tmp_path / "rules" / "tests.yml"
    tests["rule_files"] = [str(tmp_path / "rules" / Path(name).name) for name in tests["rule_files"]]
    path.write_text(yaml.safe_dump(tests))
    played = promtool(prometheus_program, "test", "rules", path)
    assert played.returncode == 0, played.stdout + played.stderr


def without_scrape(selector: str) -> str:
    name, _, rest = selector.partition("{")
    kept = [pair for pair in rest.removesuffix("}").split('",') if not pair.startswith(("job=", "instance="))]
    return name + "{" + '",'.join(kept) + "}"


def play(program: Prometheus, folder: Path, series: dict[str, str], expected: dict[str, dict[str, float]]) -> None:
    test = {
        "rule_files": [str(path) for path in written(folder, Sources("vllm.*", dcgm=True))],
        "evaluation_interval": "15s",
        "tests": [
            {
                "interval": "15s",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": expression,
                        "eval_time": "10m",
                        "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()],
                    }
                    for expression, samples in expected.items()
                ],
            }
        ],
    }
    path = folder / "tests.yml"
    path.write_text(yaml.safe_dump(test))
    played = promtool(program, "test", "rules", path)
    assert played.returncode == 0, played.stdout + played.stderr


def test_what_prometheus_knows_of_a_server_is_said_in_our_series(
    prometheus_program: Prometheus, tmp_path: Path
) -> None:
    play(
        prometheus_program,
        tmp_path,
        {
            'up{job="vllm", instance="a:8000"}': "1x50",
            'up{job="vllm", instance="b:8000"}': "0x50",
            'up{job="other", instance="c:1"}': "1x50",
            'vllm:num_requests_running{job="vllm", instance="a:8000", model_name="m", engine="0"}': "3x50",
        },
        {
            "vllmwatch_target_up": {
                'vllmwatch_target_up{job="vllm", instance="a:8000"}': 1,
                'vllmwatch_target_up{job="vllm", instance="b:8000"}': 0,
            },
            "vllmwatch:server:requests_running:sum": {
                'vllmwatch:server:requests_running:sum{job="vllm", instance="a:8000", model_name="m"}': 3
            },
        },
    )


@pytest.mark.parametrize("newer", [True, False], ids=["4.6", "before"])
def test_gpus_of_dcgm_have_our_names_units_and_labels(
    newer: bool, prometheus_program: Prometheus, tmp_path: Path
) -> None:
    def named(new: str, old: str, rest: str = "") -> str:
        who = 'gpu="0", UUID="GPU-1", Hostname="box", modelName="NVIDIA H100"'
        return f"DCGM_FI_DEV_{new if newer else old}{{{who}{rest}}}"

    labels = 'node="box", uuid="GPU-1", gpu="0"'
    play(
        prometheus_program,
        tmp_path,
        {
            named("GPU_TEMP_CELSIUS", "GPU_TEMP"): "71x50",
            named("GPU_TEMP_CELSIUS", "GPU_TEMP", ', GPU_I_ID="1"'): "99x50",
            named("MEMORY_TEMP_CELSIUS", "MEMORY_TEMP"): "9223372036854775794x50",
            named("GPU_UTIL_RATIO", "GPU_UTIL"): "87x50",
            named("TOTAL_ENERGY_CONSUMPTION", "TOTAL_ENERGY_CONSUMPTION"): "1000000+7500000x50",
            named("SM_CLOCK", "SM_CLOCK"): "1980x50",
            named("FB_USED", "FB_USED"): "1000x50",
            named("CLOCKS_EVENT_REASONS", "CLOCK_THROTTLE_REASONS"): f"{0x40 | 0x4}x50",
            named("GPU_RECOVERY_ACTION", "GET_GPU_RECOVERY_ACTION"): "1x50",
            f"{named('GPU_TEMP_CELSIUS', 'GPU_TEMP').replace('GPU-1', 'GPU-2')}": "60x10 stale",
            'DCGM_EXP_XID_ERRORS_COUNT{gpu="0", UUID="GPU-1", Hostname="box", xid="79"}': "0x20 1x10 0x20",
        },
        {
            "vllmwatch_gpu_temperature_celsius": {f"vllmwatch_gpu_temperature_celsius{{{labels}}}": 71},
            "vllmwatch_gpu_memory_temperature_celsius": {},
            "vllmwatch_gpu_utilization_ratio": {f"vllmwatch_gpu_utilization_ratio{{{labels}}}": 0.87},
            "round(rate(vllmwatch_gpu_energy_joules_total[5m]))": {f"{{{labels}}}": 500},
            "vllmwatch_gpu_clock_hertz": {f'vllmwatch_gpu_clock_hertz{{{labels}, domain="sm"}}': 1980e6},
            "vllmwatch_gpu_memory_used_bytes": {f"vllmwatch_gpu_memory_used_bytes{{{labels}}}": 1000 * 2**20},
            "vllmwatch_gpu_throttle_active == 1": {
                f'vllmwatch_gpu_throttle_active{{{labels}, reason="{reason}"}}': 1
                for reason in ("software_power_cap", "hardware_thermal_slowdown")
            },
            "vllmwatch_gpu_recovery_action": {f'vllmwatch_gpu_recovery_action{{{labels}, action="gpu_reset"}}': 1},
            "vllmwatch_gpu_up": {
                f"vllmwatch_gpu_up{{{labels}}}": 1,
                'vllmwatch_gpu_up{node="box", uuid="GPU-2", gpu="0"}': 0,
            },
            "vllmwatch_nvml_up": {'vllmwatch_nvml_up{node="box"}': 1},
            "vllmwatch_gpu_info": {f'vllmwatch_gpu_info{{{labels}, name="NVIDIA H100"}}': 1},
            # DCGM counts within a window, which ended; the last time that it counted stays.
            "vllmwatch_gpu_xid_last_timestamp_seconds": {
                f'vllmwatch_gpu_xid_last_timestamp_seconds{{{labels}, xid="79"}}': 465
            },
        },
    )


def test_each_reason_of_a_throttle_has_its_bit() -> None:
    bits = {each.labels["reason"]: each.bit for each in DCGM_METRICS if each.bit is not None}
    assert bits.keys() == THROTTLE_REASON.values.keys()
    assert sorted(bits.values(), key=int) == list(range(9))
