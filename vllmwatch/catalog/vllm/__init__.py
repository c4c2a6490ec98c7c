"""vLLM's metrics, each with its canonical name (that of 0.32) and every name that it has had since 0.2.3.

Compared with releases up to 0.33.0. Counters are named as exposed, with `_total`.
"""

from vllmwatch.catalog.vllm import cache, engine, front, latency, offload, requests, tokens, transfer
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    *requests.METRICS,
    *tokens.METRICS,
    *latency.METRICS,
    *cache.METRICS,
    *engine.METRICS,
    *transfer.METRICS,
    *offload.METRICS,
    *front.METRICS,
)
