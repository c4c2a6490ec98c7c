"""A week of normal life pages nobody: deploys, idle nights, model loads, a restart, a cache that is full at noon."""

import math
import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.latencies import FIRST_TOKEN_EDGES, INTER_TOKEN_EDGES, REQUEST_EDGES
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.rule_set import Sources, rule_files
from vllmwatch.spec.alert import Severity
from vllmwatch.stack.prometheus import Prometheus

pytestmark = [pytest.mark.real_prometheus, pytest.mark.long, pytest.mark.timeout(1200)]

MINUTES = 7 * 24 * 60
DAY = 24 * 60
NODE, MODEL = "box", "org/m"
SERVERS = ("box:8000", "box:8001")
GPUS = {"box:8000": ("GPU-0", "GPU-1"), "box:8001": ("GPU-2", "GPU-3")}
# Minutes in which a server is away: a deploy every afternoon, one server after the other, and a crash in the night.
LOADING_MINUTES = 8
DEPLOYS = {
    "box:8000": [day * DAY + 15 * 60 for day in range(7)],
    "box:8001": [day * DAY + 15 * 60 + 12 for day in range(7)],
}
CRASH = {"box:8000": [3 * DAY + 3 * 60], "box:8001": []}

Values = Sequence[float | None]


def is_away(server: str, minute: int) -> bool:
    return any(0 <= minute - begin < LOADING_MINUTES for begin in DEPLOYS[server] + CRASH[server])


def traffic(minute: int) -> float:
    """Return requests a minute: none from one to six at night, most at noon."""
    hour = minute % DAY / 60
    return 0.0 if 1 <= hour < 6 else 12.0 + 40.0 * max(math.sin((hour - 6) / 18 * math.pi), 0.0)


class Life:
    """What one server lives through, minute by minute."""

    def __init__(self, server: str) -> None:
        self.server = server
        self.dice = random.Random(server)
        self.requests = [0.0 if is_away(server, minute) else traffic(minute) for minute in range(MINUTES)]

    def counter(self, per_request: Callable[[int], float]) -> Values:
        """Return a counter that begins anew when the server does."""
        total = 0.0
        values: list[float | None] = []
        for minute in range(MINUTES):
            if is_away(self.server, minute):
                total = 0.0
                values.append(None)
            else:
                total += self.requests[minute] * per_request(minute)
                values.append(float(round(total, 3)))
        return values

    def gauge(self, of: Callable[[int], float]) -> Values:
        return [None if is_away(self.server, minute) else float(round(of(minute), 3)) for minute in range(MINUTES)]


def written(values: Sequence[float | None]) -> str:
    """Return samples in promtool's notation, equal ones and gaps together."""
    words: list[str] = []
    place = 0
    while place < len(values):
        end = place
        while end < len(values) and values[end] == values[place]:
            end += 1
        word = "_" if values[place] is None else f"{values[place]:.10g}"
        words.append(f"{word}x{end - place if word == '_' else end - place - 1}")
        place = end
    return " ".join(words)


def series_of(server: str) -> dict[str, str]:
    life = Life(server)
    who = f'node="{NODE}", server="{server}", job="vllmwatch", instance="x"'
    engine = f'{who}, engine="0", model_name="{MODEL}"'
    busy = [min(each / 12.0, 4.0) for each in life.requests]
    found: dict[str, Values] = {
        f"vllm:num_requests_running{{{engine}}}": life.gauge(lambda minute: round(busy[minute])),
        # A queue at noon now and then, which is gone a minute later.
        f"vllm:num_requests_waiting{{{engine}}}": life.gauge(
            lambda minute: 3.0 if busy[minute] > 3 and minute % 17 == 0 else 0.0
        ),
        # At noon the cache is full for half an hour, and nobody waits for it.
        f"vllm:kv_cache_usage_perc{{{engine}}}": life.gauge(
            lambda minute: 0.95 if 12 * 60 <= minute % DAY < 12 * 60 + 30 else 0.15 * busy[minute]
        ),
        f"vllm:num_preemptions_total{{{engine}}}": life.counter(lambda _: 0.0),
        f"vllm:prompt_tokens_total{{{engine}}}": life.counter(lambda _: 400.0),
        f"vllm:prompt_tokens_cached_total{{{engine}}}": life.counter(lambda _: 160.0),
        f"vllm:prefix_cache_queries_total{{{engine}}}": life.counter(lambda _: 400.0),
        f"vllm:prefix_cache_hits_total{{{engine}}}": life.counter(lambda _: 160.0),
        f"vllm:generation_tokens_total{{{engine}}}": life.counter(lambda _: 150.0),
        f"vllm:iteration_tokens_total_count{{{engine}}}": life.counter(lambda _: 150.0),
        f'vllm:request_success_total{{{engine}, finished_reason="stop"}}': life.counter(lambda _: 0.98),
        f'vllm:request_success_total{{{engine}, finished_reason="length"}}': life.counter(lambda _: 0.01),
        # A request fails now and then.
        f'vllm:request_success_total{{{engine}, finished_reason="error"}}': life.counter(
            lambda minute: 0.02 if minute % 240 == 0 else 0.0
        ),
        f'vllm:engine_sleep_state{{{engine}, sleep_state="awake"}}': life.gauge(lambda _: 1.0),
        f'vllm:cache_config_info{{{who}, engine="0", block_size="16", cache_dtype="auto"}}': life.gauge(lambda _: 1.0),
        f'vllmwatch_engine_kv_cache_size_tokens{{{who}, engine="0", basis="reported"}}': life.gauge(lambda _: 4e5),
        f'http_requests_total{{{who}, handler="/v1/chat/completions", method="POST", status="2xx"}}': life.counter(
            lambda _: 1.0
        ),
        f'vllmwatch_target_info{{{who}, url="u", origin="process", role="server", version="0.32.0", '
        f'model_name="{MODEL}"}}': [1.0] * MINUTES,
        f"vllmwatch_target_up{{{who}}}": [0.0 if is_away(server, minute) else 1.0 for minute in range(MINUTES)],
        f'vllmwatch_target_error{{{who}, reason="loading"}}': [
            1.0 if is_away(server, minute) else None for minute in range(MINUTES)
        ],
        f"vllmwatch_target_scrape_duration_seconds{{{who}}}": life.gauge(lambda _: 0.02),
        f"vllmwatch_target_last_success_timestamp_seconds{{{who}}}": life.gauge(lambda minute: 60.0 * minute),
    }
    for metric, edges, typical in (
        ("vllm:e2e_request_latency_seconds", REQUEST_EDGES, 1.2),
        ("vllm:request_queue_time_seconds", REQUEST_EDGES, 0.01),
        ("vllm:time_to_first_token_seconds", FIRST_TOKEN_EDGES, 0.3),
        ("vllm:inter_token_latency_seconds", INTER_TOKEN_EDGES, 0.03),
    ):
        count = life.counter(lambda _: 1.0)
        found[f"{metric}_count{{{engine}}}"] = count
        for edge in [*(edge for edge in edges if typical / 8 < edge < max(typical * 30, 1.1)), math.inf]:
            share = 0.0 if edge < typical else 0.996 if edge < typical * 5 else 1.0
            label = "+Inf" if edge == math.inf else repr(float(edge))
            found[f'{metric}_bucket{{{engine}, le="{label}"}}'] = [
                None if value is None else math.floor(value * share) for value in count
            ]
    for rank, uuid in enumerate(GPUS[server]):
        found |= gpu_series(server, uuid, rank, busy)
    return {name: written(values) for name, values in found.items()}


def gpu_series(server: str, uuid: str, rank: int, busy: Sequence[float]) -> dict[str, Values]:
    gpu = f'node="{NODE}", uuid="{uuid}", gpu="{uuid[-1]}", job="vllmwatch", instance="x"'
    joined = f'{gpu}, server="{server}", engine="0", rank="TP{rank}", parent_uuid=""'
    watts = [90.0 + 120.0 * each for each in busy]
    energy: list[float] = []
    total = 0.0
    for each in watts:
        total += each * 60
        energy.append(total)
    always = [1.0] * MINUTES
    return {
        f"vllmwatch_engine_gpu_info{{{joined}}}": [
            None if is_away(server, minute) else 1.0 for minute in range(MINUTES)
        ],
        f"vllmwatch_gpu_up{{{gpu}}}": always,
        f'vllmwatch_gpu_info{{{gpu}, name="NVIDIA H100 80GB HBM3"}}': always,
        f"vllmwatch_gpu_temperature_celsius{{{gpu}}}": [45.0 + round(8 * each) for each in busy],
        f"vllmwatch_gpu_memory_temperature_celsius{{{gpu}}}": [50.0 + round(9 * each) for each in busy],
        f'vllmwatch_gpu_temperature_threshold_celsius{{{gpu}, kind="slowdown"}}': [89.0] * MINUTES,
        f"vllmwatch_gpu_power_watts{{{gpu}}}": watts,
        f"vllmwatch_gpu_energy_joules_total{{{gpu}}}": energy,
        f"vllmwatch_gpu_utilization_ratio{{{gpu}}}": [min(each / 4, 1.0) for each in busy],
        f'vllmwatch_gpu_clock_hertz{{{gpu}, domain="sm"}}': [1.98e9 if each else 3.45e8 for each in busy],
        f"vllmwatch_gpu_pcie_link_width{{{gpu}}}": [16.0] * MINUTES,
        f"vllmwatch_gpu_pcie_link_width_max{{{gpu}}}": [16.0] * MINUTES,
        f"vllmwatch_gpu_pcie_replays_total{{{gpu}}}": [float(minute // 900) for minute in range(MINUTES)],
        f'vllmwatch_gpu_ecc_errors_total{{{gpu}, kind="corrected", lifetime="volatile"}}': [
            float(minute // 2000) for minute in range(MINUTES)
        ],
        f'vllmwatch_gpu_ecc_errors_total{{{gpu}, kind="uncorrected", lifetime="volatile"}}': [0.0] * MINUTES,
        f'vllmwatch_gpu_throttle_active{{{gpu}, reason="software_power_cap"}}': [
            1.0 if each > 3.5 else 0.0 for each in busy
        ],
        f'vllmwatch_gpu_throttle_active{{{gpu}, reason="hardware_thermal_slowdown"}}': [0.0] * MINUTES,
        f'vllmwatch_gpu_nvlink_up{{{gpu}, link="0"}}': always,
        f'vllmwatch_gpu_held_memory_bytes{{{gpu}, holder="server", server="{server}"}}': [7.4e10] * MINUTES,
    }


def exporter_series() -> dict[str, str]:
    who = f'node="{NODE}", job="vllmwatch", instance="x"'
    found: dict[str, Values] = {
        f'vllmwatch_build_info{{{who}, version="1", python_version="3"}}': [1.0] * MINUTES,
        f"vllmwatch_nvml_up{{{who}}}": [1.0] * MINUTES,
        f"vllmwatch_config_last_reload_successful{{{who}}}": [1.0] * MINUTES,
        f"vllmwatch_discovery_problems{{{who}}}": [0.0] * MINUTES,
        'up{job="vllmwatch", instance="x"}': [1.0] * MINUTES,
        'prometheus_config_last_reload_successful{job="prometheus"}': [1.0] * MINUTES,
        'prometheus_notifications_alertmanagers_discovered{job="prometheus"}': [1.0] * MINUTES,
        'prometheus_rule_group_rules{job="prometheus", rule_group="a"}': [400.0] * MINUTES,
        'prometheus_rule_evaluation_failures_total{job="prometheus", rule_group="a"}': [0.0] * MINUTES,
        'alertmanager_notifications_total{job="alertmanager", integration="slack"}': [
            float(minute // 60) for minute in range(MINUTES)
        ],
        'alertmanager_notifications_failed_total{job="alertmanager", integration="slack"}': [0.0] * MINUTES,
    }
    return {name: written(values) for name, values in found.items()}


def fired(severity: Severity) -> str:
    return f'ALERTS{{alertstate="firing", severity="{severity}"}}'


def test_nobody_is_paged_in_a_week_of_normal_life(newest_prometheus: Prometheus, tmp_path: Path) -> None:
    files = rule_files(AlertSettings(), Sources())
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    series = exporter_series()
    for server in SERVERS:
        series |= series_of(server)
    pages = sorted(alert.name for alert in ALERTS if alert.severity is Severity.PAGE)
    test = {
        "rule_files": [str(tmp_path / name) for name in files],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": [
                    {
                        "expr": f"max by (alertname) (max_over_time({fired(severity)}[7d]))",
                        "eval_time": f"{MINUTES}m",
                        "exp_samples": [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in expected],
                    }
                    for severity, expected in ((Severity.PAGE, ()), (Severity.TICKET, TICKETS))
                ],
            }
        ],
    }
    path = tmp_path / "week.yml"
    path.write_text(yaml.safe_dump(test))
    promtool = newest_prometheus.promtool
    played = subprocess.run(
        [promtool, "test", "rules", path], capture_output=True, text=True, timeout=1100, check=False
    )
    assert played.returncode == 0, played.stdout + played.stderr
    assert pages


# A cache that is full for half an hour at noon is told in working hours, and is the one thing that is.
TICKETS = ("KvCacheUsageHigh",)
