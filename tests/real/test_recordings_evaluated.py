"""A real Prometheus evaluates every rule over what the real exporter serves, scraped by two jobs, without a fault."""

import json
import time
from pathlib import Path

import pytest

from tests.exporter.vllm.pages import RECORDED
from tests.fake_nvml.plugin import child_environment
from tests.fake_nvml.presets import h100_host
from tests.fake_nvml.state import State
from tests.real.fixtures import StartExporter
from tests.real.prometheus_server import PrometheusServer, Scrape
from tests.servers import serving, vllm
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.render.rules import render_rules
from vllmwatch.stack.prometheus import Prometheus

pytestmark = [pytest.mark.real_prometheus, pytest.mark.fake_nvml]

INTERVAL_SECONDS = 2
RULES = sum(len(group.recordings) for group in RECORDINGS)


def evaluating(program: Prometheus, folder: Path, scrapes: list[Scrape]) -> PrometheusServer:
    """Return a Prometheus that evaluates the rules every few seconds."""
    rules = folder / "rules"
    rules.mkdir()
    for group in RECORDINGS:
        text = render_rules(group).replace(f"interval: {group.interval_seconds}s", f"interval: {INTERVAL_SECONDS}s")
        (rules / f"{group.theme}.yml").write_text(text)
    server = PrometheusServer(program, folder, scrapes)
    config = json.loads(server._config.read_text())
    server._config.write_text(json.dumps(config | {"rule_files": [str(rules / "*.yml")]}))
    return server


def evaluated(prometheus: PrometheusServer) -> dict[str, tuple[str, str]]:
    """Return health and last error of each rule, when all have been evaluated."""
    deadline = time.monotonic() + 60
    while True:
        groups = prometheus.get("/api/v1/rules")["groups"]
        rules = {
            rule["name"]: (rule["health"], rule.get("lastError", "")) for group in groups for rule in group["rules"]
        }
        if rules and all(health != "unknown" for health, _ in rules.values()):
            return rules
        assert time.monotonic() < deadline, rules
        time.sleep(0.5)


def test_every_rule_is_evaluated_without_a_fault(
    fake_nvml_folder: Path,
    start_exporter: StartExporter,
    prometheus_program: Prometheus,
    tmp_path: Path,
) -> None:
    State(tmp_path / "nvml.state", h100_host())
    environment = child_environment(fake_nvml_folder, tmp_path / "nvml.state")
    pages = {name: (RECORDED / f"vllm_{name}.prom").read_bytes() for name in ("0.32.0_data_parallel_2", "0.9.2_loaded")}
    with serving(vllm(pages["0.32.0_data_parallel_2"])) as new, serving(vllm(pages["0.9.2_loaded"])) as old:
        settings = {
            "node": "box",
            "discover": False,
            "targets": [{"url": new.url(), "server": "new"}, {"url": old.url(), "server": "old"}],
            "servers": [{"url": new.url(), "gpus": ["0", "1"]}, {"url": old.url(), "gpus": ["1"]}],
            "price_per_gpu_hour": 3.6,
        }
        (tmp_path / "vllmwatch.yml").write_text(json.dumps(settings))
        exporter = start_exporter("--config", str(tmp_path / "vllmwatch.yml"), environment=environment)
        scrapes = [Scrape(job, f"{exporter.url}/metrics", 1) for job in ("vllmwatch", "again")]
        prometheus = evaluating(prometheus_program, tmp_path, scrapes)
        try:
            prometheus.start()
            prometheus.wait_for_scrapes("again", 10)
            time.sleep(3 * INTERVAL_SECONDS)
            rules = evaluated(prometheus)
            held = {labels["server"]: value for labels, value in prometheus.query("vllmwatch:server:held_gpus:sum")}
            cost = prometheus.query('vllmwatch:server:cost_per_second:now{server="new"}')
            usage = prometheus.value('vllmwatch:server:kv_cache_usage_ratio:max{server="new"}')
            room = prometheus.query('vllmwatch:server:kv_cache_headroom_tokens:now{server="new"}')
        finally:
            prometheus.stop()
    assert len(rules) == RULES
    assert {name: fault for name, (health, fault) in rules.items() if health != "ok"} == {}
    assert held == {"new": 1.5, "old": 0.5}
    assert [value for _, value in cost] == [pytest.approx(1.5 * 3.6 / 3600)]
    assert usage == pytest.approx(0.0014650225857648635)
    assert [labels["basis"] for labels, _ in room] == ["reported"]
    assert [line for line in prometheus.complaints() if "rule" in line.lower()] == []
