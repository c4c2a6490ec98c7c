"""The worked example of docs/figures.md: two servers of one model on three GPUs, one of which they share."""

from vllmwatch.catalog.recordings.stories.words import (
    NODE,
    carried,
    engine_says,
    expect,
    gpu_says,
    model_says,
    of_engine,
    of_gpu,
    series,
    server_says,
    target,
)
from vllmwatch.spec.story import Series, Story

TIME = "10m"
STEPS = 60
_A, _B = "box:8000", "box:8001"
_REQUEST = "vllm:e2e_request_latency_seconds"


def _counter(step: int) -> str:
    return f"90000+{step}x{STEPS}"


def _gauge(value: float) -> str:
    return f"{value:g}x{STEPS}"


def _engine(engine: str, server: str, counted: dict[str, int], running: int, usage: float, size: int) -> list[Series]:
    """Return an engine: what its counters gain every 15 seconds, and its gauges."""
    buckets = {"le": "2.0"}
    return [
        *(of_engine(name, _counter(step), engine, server) for name, step in counted.items() if name != "slow"),
        of_engine(
            f"{_REQUEST}_bucket", _counter(counted[f"{_REQUEST}_count"] - counted["slow"]), engine, server, **buckets
        ),
        of_engine("vllm:num_requests_running", _gauge(running), engine, server),
        of_engine("vllm:kv_cache_usage_perc", _gauge(usage), engine, server),
        series(
            "vllmwatch_engine_kv_cache_size_tokens",
            _gauge(size),
            node=NODE,
            server=server,
            engine=engine,
            basis="reported",
        ),
    ]


def _counted(prompt: int, cached: int, generated: int, requests: int, slow: int) -> dict[str, int]:
    return {
        "vllm:prompt_tokens_total": prompt,
        "vllm:prompt_tokens_cached_total": cached,
        "vllm:generation_tokens_total": generated,
        f"{_REQUEST}_count": requests,
        "slow": slow,
    }


WORKED_EXAMPLE = Story(
    "the worked example: two servers of a model, one over two GPUs, the other with two engines, a GPU shared",
    15,
    (
        target(_gauge(1)),
        target(_gauge(1), _B),
        carried(_gauge(1), "GPU-0", rank="TP0"),
        carried(_gauge(1), "GPU-1", rank="TP1"),
        carried(_gauge(1), "GPU-1", _B, "1", rank="DP1"),
        carried(_gauge(1), "GPU-2", _B, "0", rank="DP0"),
        of_gpu("vllmwatch_gpu_energy_joules_total", _counter(6000), "GPU-0"),
        of_gpu("vllmwatch_gpu_energy_joules_total", _counter(4500), "GPU-1"),
        of_gpu("vllmwatch_gpu_energy_joules_total", _counter(3750), "GPU-2"),
        *_engine("0", _A, _counted(750, 300, 3000, 20, 1), 8, 0.75, 200_000),
        *_engine("0", _B, _counted(0, 0, 0, 0, 0), 0, 0.1, 100_000),
        *_engine("1", _B, _counted(600, 150, 600, 5, 1), 2, 0.9, 100_000),
        series("vllmwatch_price_per_gpu_hour", _gauge(1.8), node=NODE),
        series("vllmwatch_price_per_kilowatt_hour", _gauge(0.36), node=NODE),
    ),
    (
        expect(TIME, "gpu:power_watts:avg1m", gpu_says(400, "GPU-0"), gpu_says(300, "GPU-1"), gpu_says(250, "GPU-2")),
        expect(TIME, "server:power_watts:avg1m", server_says(550), server_says(400, _B)),
        expect(TIME, "server:held_gpus:sum", server_says(1.5), server_says(1.5, _B)),
        expect(TIME, "server:tokens:rate5m", server_says(250), server_says(80, _B)),
        expect(TIME, "server:energy_per_token_joules:avg5m", server_says(2.2), server_says(5, _B)),
        expect(TIME, "model:energy_per_token_joules:avg5m", model_says(2.878788)),
        expect(TIME, "server:energy_per_generation_token_joules:avg5m", server_says(2.75), server_says(10, _B)),
        expect(TIME, "server:cost_per_second:now", server_says(0.000805), server_says(0.00079, _B)),
        expect(TIME, "server:cost_per_million_tokens:avg5m", server_says(3.22), server_says(9.875, _B)),
        expect(TIME, "model:cost_per_million_tokens:avg5m", model_says(4.833333)),
        expect(TIME, "server:cached_prompt_tokens:ratio_rate5m", server_says(0.4), server_says(0.25, _B)),
        expect(TIME, "model:cached_prompt_tokens:ratio_rate5m", model_says(0.333333)),
        expect(TIME, "server:request_latency_slow:ratio_increase5m", server_says(0.05), server_says(0.2, _B)),
        expect(TIME, "model:request_latency_slow:ratio_increase5m", model_says(0.08)),
        expect(TIME, "server:kv_cache_usage_ratio:max", server_says(0.75), server_says(0.9, _B)),
        expect(
            TIME,
            "engine:kv_cache_headroom_tokens:now",
            engine_says(50_000, basis="reported"),
            engine_says(90_000, server=_B, basis="reported"),
            engine_says(10_000, "1", _B, basis="reported"),
        ),
    ),
)
