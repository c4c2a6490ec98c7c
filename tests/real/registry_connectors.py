"""The metrics of a vLLM release's KV connectors, which show only where one is configured: all of them at once."""

import importlib
from types import SimpleNamespace
from typing import Any

CONNECTORS = "vllm.distributed.kv_transfer.kv_connector.v1"
METRICS = {
    f"{CONNECTORS}.nixl.stats": "NixlPromMetrics",
    f"{CONNECTORS}.mooncake.stats": "MooncakePromMetrics",
    f"{CONNECTORS}.mooncake.store.metrics": "MooncakeStorePromMetrics",
    f"{CONNECTORS}.hf3fs.hf3fs_connector": "HF3FSPromMetrics",
    f"{CONNECTORS}.hisparse.stats": "HiSparsePromMetrics",
    f"{CONNECTORS}.umbp.stats": "UMBPStorePromMetrics",
    f"{CONNECTORS}.offloading.metrics": "OffloadPromMetrics",
    "vllm.v1.simple_kv_offload.metrics": "SimpleCPUOffloadPromMetrics",
}


def register(config: Any, model: str) -> None:
    """Register the connectors' metrics beside the engine's, and give a series to each that has none yet.

    Such a series says `made_up` in the labels that a connector would fill.
    """
    client = importlib.import_module("prometheus_client")
    before = set(client.REGISTRY._collector_to_names)
    config.kv_transfer_config = SimpleNamespace(
        is_kv_consumer=True, kv_connector_extra_config={"spec_name": "TieringOffloadingSpec"}
    )
    types = {kind: kind for kind in (client.Counter, client.Gauge, client.Histogram)}
    for module, name in METRICS.items():
        kind = getattr(importlib.import_module(module), name)
        kind(config, types, ["model_name", "engine"], {0: [model, "0"]})
    fixed = {"model_name": model, "engine": "0"}
    for collector in set(client.REGISTRY._collector_to_names) - before:
        if collector._labelnames and not collector._metrics:
            collector.labels(**{label: fixed.get(label, "made_up") for label in collector._labelnames})
