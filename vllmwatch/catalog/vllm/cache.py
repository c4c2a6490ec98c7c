"""Caches: KV cache, prefix cache, multi-modal cache, and the configuration behind them."""

from vllmwatch.catalog.vllm.declare import counter, gauge, histogram, name
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    gauge(
        name("vllm:kv_cache_usage_perc", "0.9.2"),
        name("vllm:gpu_cache_usage_perc", "0.2.3", "0.11.2"),
        says="Share of the KV cache in use, 0 to 1.",
        unit="ratio",
    ),
    gauge(
        name("vllm:cpu_cache_usage_perc", "0.2.3", "0.9.0"),
        says="Share of the KV cache in host memory in use, 0 to 1 (V0 engine).",
        unit="ratio",
    ),
    counter(
        name("vllm:prefix_cache_queries_total", "0.9.2"),
        name("vllm:gpu_prefix_cache_queries_total", "0.9.0", "0.11.2", help_contains="tokens"),
        says="Tokens looked up in the prefix cache.",
        unit="tokens",
    ),
    counter(
        name("vllm:prefix_cache_hits_total", "0.9.2"),
        name("vllm:gpu_prefix_cache_hits_total", "0.9.0", "0.11.2", help_contains="tokens"),
        says="Tokens found in the prefix cache.",
        unit="tokens",
    ),
    counter(
        name("vllm:gpu_prefix_cache_queries_total", "0.7.3", "0.8.5", help_contains="blocks"),
        says="Blocks looked up in the prefix cache, as releases before 0.9.0 counted.",
        unit="blocks",
    ),
    counter(
        name("vllm:gpu_prefix_cache_hits_total", "0.7.3", "0.8.5", help_contains="blocks"),
        says="Blocks found in the prefix cache, as releases before 0.9.0 counted.",
        unit="blocks",
    ),
    gauge(
        name("vllm:gpu_prefix_cache_hit_rate", "0.5.5", "0.9.0"),
        says="Hit rate of the prefix cache on the GPU (V0 engine); -1 while unknown.",
        unit="ratio",
        unknown_value=-1.0,
    ),
    gauge(
        name("vllm:cpu_prefix_cache_hit_rate", "0.5.5", "0.9.0"),
        says="Hit rate of the prefix cache in host memory (V0 engine); -1 while unknown.",
        unit="ratio",
        unknown_value=-1.0,
    ),
    counter(
        name("vllm:external_prefix_cache_queries_total", "0.11.1"),
        says="Tokens looked up through the KV connector.",
        unit="tokens",
    ),
    counter(
        name("vllm:external_prefix_cache_hits_total", "0.11.1"),
        says="Tokens found through the KV connector.",
        unit="tokens",
    ),
    counter(
        name("vllm:mm_cache_queries_total", "0.11.1"), says="Items looked up in the multi-modal cache.", unit="items"
    ),
    counter(name("vllm:mm_cache_hits_total", "0.11.1"), says="Items found in the multi-modal cache.", unit="items"),
    gauge(
        name("vllm:cache_config_info", "0.4.0"),
        says="The cache configuration, in labels that change from release to release.",
        unit="always 1",
    ),
    histogram(
        name("vllm:kv_block_lifetime_seconds", "0.12.0"),
        says="Time from allocation to eviction of a KV block.",
        unit="seconds",
        condition="--kv-cache-metrics",
    ),
    histogram(
        name("vllm:kv_block_idle_before_evict_seconds", "0.12.0"),
        says="Time that a KV block lay unused before it was evicted.",
        unit="seconds",
        condition="--kv-cache-metrics",
    ),
    histogram(
        name("vllm:kv_block_reuse_gap_seconds", "0.12.0"),
        says="Time between uses of a KV block.",
        unit="seconds",
        condition="--kv-cache-metrics",
    ),
)
