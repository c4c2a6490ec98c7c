"""Prints the metrics page that the metrics code of an unpacked vLLM release makes of made-up traffic.

A process of its own for each page, started by record_registry_pages.py: `python -m tests.real.registry_page FOLDER
ENGINE`, with the folder that holds the release's `vllm` and one of the engines below. The release's own
metrics modules run; what they import beside that is stood in for.
"""

import ast
import asyncio
import importlib
import inspect
import os
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from fastapi import FastAPI, Response
from httpx import ASGITransport, AsyncClient
from starlette.routing import Mount

from tests.real.registry_connectors import register
from tests.real.registry_stand_ins import Finder, StandIn
from tests.real.registry_traffic import REQUESTS, figures, fitting, iteration_stats, scheduler_stats

MODEL = "org/tiny"
MAX_MODEL_LEN = 2048


def cache_config() -> Any:
    """Return the release's own cache configuration, as a server on a card of 80 GB has it."""
    # Early releases have all of the configuration in one module.
    module = importlib.import_module("vllm.config")
    kind = (
        importlib.import_module("vllm.config.cache").CacheConfig if isinstance(module, StandIn) else module.CacheConfig
    )
    given = {"block_size": 16, "gpu_memory_utilization": 0.9, "swap_space": 4, "cache_dtype": "auto"}
    accepted = inspect.signature(kind).parameters
    config = kind(**{name: value for name, value in given.items() if name in accepted})
    for name, value in {"num_gpu_blocks": 27_000, "num_cpu_blocks": 2_048, "kv_cache_size_tokens": 432_000}.items():
        if hasattr(config, name):
            setattr(config, name, value)
    return config


def configuration() -> SimpleNamespace:
    """Return as much of a server's configuration as the metrics code of any release asks for."""
    sizes = [1, 2, 4, *range(8, 513, 8)]
    return SimpleNamespace(
        cache_config=cache_config(),
        compilation_config=SimpleNamespace(cudagraph_capture_sizes=sizes, capture_sizes=sizes),
        device_config=SimpleNamespace(device_type="cuda"),
        ec_transfer_config=None,
        kv_transfer_config=None,
        lora_config=SimpleNamespace(max_loras=2),
        model_config=SimpleNamespace(
            served_model_name=MODEL, max_model_len=MAX_MODEL_LEN, enforce_eager=False, is_diffusion=False
        ),
        observability_config=SimpleNamespace(
            collect_model_forward_time=True,
            collect_model_execute_time=True,
            custom_histogram_buckets=None,
            kv_cache_metrics=True,
            show_hidden_metrics=False,
        ),
        speculative_config=SimpleNamespace(num_speculative_tokens=3),
        watermark_config=SimpleNamespace(),
    )


def run_v0() -> None:
    """Feed the logger of the V0 engine."""
    module = importlib.import_module("vllm.engine.metrics")
    logger_kind = getattr(module, "PrometheusStatLogger", None) or module.StatLogger
    config = configuration()
    known = {"local_interval": 5.0, "labels": {"model_name": MODEL}} | {
        "max_model_len": MAX_MODEL_LEN,
        "vllm_config": config,
    }
    accepted = inspect.signature(logger_kind).parameters
    metrics = logger_kind(**{name: value for name, value in known.items() if name in accepted})
    metrics.info("cache_config", config.cache_config)
    speculation = SimpleNamespace(
        draft_acceptance_rate=0.7, system_efficiency=0.6, num_spec_tokens=3, accepted_tokens=420, draft_tokens=600
    )
    speculation.emitted_tokens = 620
    metrics.log(fitting(module.Stats, figures() | {"now": time.time() + 10.0, "spec_decode_metrics": speculation}))


def run_v1_with_connectors() -> None:
    """Feed the logger of the V1 engine, and register what its KV connectors have."""
    run_v1()
    register(configuration(), MODEL)


def run_v1() -> None:
    """Feed the logger of the V1 engine."""
    loggers = importlib.import_module("vllm.v1.metrics.loggers")
    stats = importlib.import_module("vllm.v1.metrics.stats")
    config = configuration()
    (first, *_) = inspect.signature(loggers.PrometheusStatLogger).parameters
    logger = loggers.PrometheusStatLogger(config.model_config if first == "model_config" else config)
    for method in ("log_engine_initialized", "record_sleep_state"):
        getattr(logger, method, lambda: None)()
    if hasattr(logger, "record_admission_rejection"):
        logger.record_admission_rejection(loggers.ADMISSION_REASONS[0])
    arguments = {"scheduler_stats": scheduler_stats(stats), "iteration_stats": iteration_stats(stats)}
    if hasattr(stats, "MultiModalCacheStats"):
        arguments["mm_cache_stats"] = stats.MultiModalCacheStats(requests=2, queries=3, hits=1)
    (logger.record if hasattr(logger, "record") else logger.log)(**arguments)


def page() -> str:
    """Return what the process' registry prints, or in multiprocess mode what the processes' files do."""
    client = importlib.import_module("prometheus_client")
    registry = client.REGISTRY
    if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        registry = client.CollectorRegistry()
        importlib.import_module("prometheus_client.multiprocess").MultiProcessCollector(registry)
    return bytes(client.generate_latest(registry)).decode()


async def page_over_http(attach: Callable[[FastAPI], None]) -> str:
    """Return the page of an app to which the release has attached its metrics, after a few requests."""
    app = FastAPI()
    app.add_api_route("/v1/models", lambda: {"data": [{"id": MODEL}]})
    app.add_api_route("/v1/completions", lambda: {"choices": []}, methods=["POST"])
    attach(app)
    async with AsyncClient(transport=ASGITransport(app), base_url="http://127.0.0.1") as client:
        await client.get("/v1/models")
        for _ in REQUESTS:
            await client.post("/v1/completions", json={"model": MODEL, "prompt": "Words."})
        await client.get("/nowhere")
        return (await client.get("/metrics")).text


def attach_of(source: Path) -> Callable[[FastAPI], None] | None:
    """Return what attaches HTTP metrics in this release, or None where it has none (before 0.8.3).

    Before 0.12 it stood in the API server's module, of which too much would have to be stood in for: its two
    definitions are taken out of it.
    """
    if (source / "vllm" / "entrypoints" / "serve" / "instrumentator" / "metrics.py").exists():
        attach: Callable[[FastAPI], None] = importlib.import_module(
            "vllm.entrypoints.serve.instrumentator.metrics"
        ).attach_router
        return attach
    server = source / "vllm" / "entrypoints" / "openai" / "api_server.py"
    if "Instrumentator(" not in server.read_text():
        return None
    wanted = {"PrometheusResponse", "mount_metrics"}
    parts = [part for part in ast.parse(server.read_text()).body if getattr(part, "name", "") in wanted]
    names: dict[str, Any] = {"FastAPI": FastAPI, "Response": Response, "Mount": Mount, "os": os, "re": re}
    names["prometheus_client"] = client = importlib.import_module("prometheus_client")
    names["make_asgi_app"] = client.make_asgi_app
    names["Instrumentator"] = importlib.import_module("prometheus_fastapi_instrumentator").Instrumentator
    names["get_prometheus_registry"] = importlib.import_module("vllm.v1.metrics.prometheus").get_prometheus_registry
    exec(compile(ast.Module(parts, []), str(server), "exec"), names)
    mount: Callable[[FastAPI], None] = names["mount_metrics"]
    return mount


ENGINES = {"v0": run_v0, "v1": run_v1, "v1_with_connectors": run_v1_with_connectors}


def main(arguments: Sequence[str]) -> None:
    """Print the page of the release that lies in the first argument, of the engine that the second names."""
    source = Path(arguments[0]).absolute()
    sys.meta_path.insert(0, Finder(source))
    ENGINES[arguments[1]]()
    attach = attach_of(source) if arguments[1] != "v0" else None
    print(page() if attach is None else asyncio.run(page_over_http(attach)), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
