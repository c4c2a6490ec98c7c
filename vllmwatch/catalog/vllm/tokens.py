"""Tokens: prompt, generated, by source, and the size of an engine step."""

from vllmwatch.catalog.vllm.declare import counter, gauge, histogram, name
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    counter(
        name("vllm:prompt_tokens_total", "0.4.0"),
        says="Prompt tokens of prefilled requests, cached ones included.",
        unit="tokens",
    ),
    counter(
        name("vllm:generation_tokens_total", "0.4.0"),
        says="Tokens generated, those of aborted requests included.",
        unit="tokens",
    ),
    counter(
        name("vllm:prompt_tokens_by_source_total", "0.16.0"),
        says="Prompt tokens by where their KV came from.",
        unit="tokens",
        labels=("source",),
    ),
    counter(
        name("vllm:prompt_tokens_cached_total", "0.16.0"),
        says="Prompt tokens whose KV came from a cache.",
        unit="tokens",
    ),
    counter(
        name("vllm:prompt_tokens_cached_by_source_total", "0.32.0"),
        says="Prompt tokens whose KV came from a cache, by tier.",
        unit="tokens",
        labels=("source",),
    ),
    counter(
        name("vllm:prompt_tokens_recomputed_total", "0.16.0", "0.19.1"),
        says="Cached prompt tokens that were computed again.",
        unit="tokens",
    ),
    counter(
        name("vllm:tokens_total", "0.6.4", "0.7.3"),
        says="Prompt and generated tokens together (V0 engine; never filled).",
        unit="tokens",
    ),
    histogram(
        name("vllm:iteration_tokens_total", "0.6.4"),
        says="Tokens in each engine step; the count is the number of steps.",
        unit="tokens",
    ),
    gauge(
        name("vllm:avg_prompt_throughput_toks_per_s", "0.2.3", "0.6.6"),
        says="Prompt tokens per second over the logging interval (V0 engine).",
        unit="tokens per second",
    ),
    gauge(
        name("vllm:avg_generation_throughput_toks_per_s", "0.2.3", "0.6.6"),
        says="Generated tokens per second over the logging interval (V0 engine).",
        unit="tokens per second",
    ),
    counter(
        name("vllm:estimated_flops_per_gpu_total", "0.17.0"),
        says="Estimated floating-point operations of one GPU; constant 0 unless asked for.",
        unit="FLOP",
        condition="--enable-mfu-metrics",
    ),
    counter(
        name("vllm:estimated_read_bytes_per_gpu_total", "0.17.0"),
        says="Estimated bytes read from memory by one GPU; constant 0 unless asked for.",
        unit="bytes",
        condition="--enable-mfu-metrics",
    ),
    counter(
        name("vllm:estimated_write_bytes_per_gpu_total", "0.17.0"),
        says="Estimated bytes written to memory by one GPU; constant 0 unless asked for.",
        unit="bytes",
        condition="--enable-mfu-metrics",
    ),
)
