"""A real Prometheus takes the exporter's page, fifty times in a row, whole and without a complaint."""

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.presets import h100_host
from tests.fake_nvml.state import State
from tests.real.fixtures import StartExporter, StartPrometheus
from tests.real.load import Load
from tests.real.prometheus_server import PrometheusServer, Scrape
from tests.real.vllm_server import VllmServer
from vllmwatch.stack.prometheus import Prometheus

SCRAPES = 50
# Counters of samples and scrapes that Prometheus did not take: their names in both versions say so.
LOSSES = ("exceeded", "duplicate", "out_of_order", "out_of_bounds", "forced", "failed")

pytestmark = [pytest.mark.real_vllm, pytest.mark.real_prometheus, pytest.mark.fake_nvml]


@pytest.fixture
def busy_server(vllm_server: VllmServer) -> Iterator[VllmServer]:
    """Keep the server busy with short requests, a few of them aborted or wrong, while the test runs."""
    enough = Event()
    load = Load(vllm_server.url)

    def work() -> None:
        for _ in range(200):
            if enough.wait(0.5):
                return
            load.complete(max_tokens=16, stream=True)
            load.abort(max_tokens=50)
            load.wrong_model()

    worker = Thread(target=work)
    worker.start()
    yield vllm_server
    enough.set()
    worker.join(60)
    assert not worker.is_alive()


def losses(prometheus: PrometheusServer) -> dict[str, float]:
    """Return Prometheus' own counters of what its scrapes lost."""
    return {
        series: value
        for series, value in prometheus.own_samples().items()
        if series.startswith("prometheus_target_scrape") and any(word in series for word in LOSSES)
    }


def sample_count(page: str) -> int:
    """Return the number of samples on a page."""
    return sum(1 for line in page.splitlines() if line and not line.startswith("#"))


def test_fifty_scrapes_lose_and_complain_of_nothing(
    busy_server: VllmServer,
    fake_nvml_folder: Path,
    start_exporter: StartExporter,
    start_prometheus: StartPrometheus,
    prometheus_program: Prometheus,
    tmp_path: Path,
) -> None:
    State(tmp_path / "nvml.state", h100_host())
    environment = child_environment(fake_nvml_folder, tmp_path / "nvml.state")
    exporter = start_exporter("--target", busy_server.url, "--no-discover", environment=environment)
    # The interval is the timeout too, and the cores are shared with the model.
    scrape = Scrape("vllmwatch", f"{exporter.url}/metrics", interval_seconds=1.5)
    prometheus = start_prometheus(prometheus_program, [scrape])
    prometheus.wait_for_scrapes("vllmwatch", SCRAPES)

    assert prometheus.value('count_over_time(up{job="vllmwatch"}[1h])') >= SCRAPES
    assert prometheus.value('min_over_time(up{job="vllmwatch"}[1h])') == 1
    assert prometheus.query("max_over_time(vllmwatch_target_error[1h]) > 0") == []
    assert prometheus.value("min_over_time(vllmwatch_target_up[1h])") == 1
    assert prometheus.value("max(scrape_samples_scraped - scrape_samples_post_metric_relabeling)") == 0
    assert prometheus.complaints() == []
    counted = losses(prometheus)
    assert len(counted) >= 6, counted
    assert not any(counted.values()), counted
    assert prometheus.value("scrape_samples_scraped") == pytest.approx(sample_count(exporter.page()), rel=0.05)
    assert prometheus.value("count(vllmwatch_gpu_up == 1)") == 8
    assert prometheus.value('sum(increase({__name__="vllm:generation_tokens_total"}[1h]))') > 0
