"""Prometheus' own linter has nothing to say about our names, and its parsers take our page whole."""

import subprocess
from pathlib import Path

import pytest

from tests.exporter.vllm.pages import RECORDED
from tests.fake_nvml import presets
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.state import State
from tests.real.fixtures import StartExporter
from tests.servers import answering, response, serving, vllm
from vllmwatch.stack.prometheus import Prometheus

pytestmark = [pytest.mark.real_prometheus, pytest.mark.fake_nvml]


@pytest.mark.parametrize(
    "host", [presets.h100_host, presets.mig_host, presets.sick_host], ids=lambda host: host.__name__
)
def test_promtool_has_no_complaint_about_our_names(
    host: object, fake_nvml_folder: Path, start_exporter: StartExporter, newest_prometheus: Prometheus, tmp_path: Path
) -> None:
    assert callable(host)
    State(tmp_path / "nvml.state", host())
    environment = child_environment(fake_nvml_folder, tmp_path / "nvml.state")
    page = (RECORDED / "vllm_0.32.0_loaded.prom").read_bytes()
    with serving(vllm(page)) as good, serving(answering(response(b"# TYPE vllm:x gauge\nvllm:x 1\nbad line\n"))) as odd:
        exporter = start_exporter(
            *("--target", good.url(), "--target", odd.url(), "--no-discover"), environment=environment
        )
        text = exporter.page()
    assert text.count("\nvllmwatch_gpu_") > 50
    result = subprocess.run(
        [newest_prometheus.path.with_name("promtool"), "check", "metrics"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    complaints = (result.stdout + result.stderr).splitlines()
    assert "error while linting" not in " ".join(complaints)
    assert [line for line in complaints if line.startswith("vllmwatch_")] == []
    # It does look: upstream's names are not to its taste.
    assert any(line.startswith("vllm:") for line in complaints)
