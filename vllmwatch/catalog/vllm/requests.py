"""Requests: how many run and wait, how they end, how large they are."""

from vllmwatch.catalog.vllm.declare import SERVER, counter, gauge, histogram, name
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    gauge(
        name("vllm:num_requests_running", "0.2.3"),
        says="Sequences in the running batch after the last engine step.",
        unit="requests",
    ),
    gauge(name("vllm:num_requests_waiting", "0.2.3"), says="Sequences that wait to be scheduled.", unit="requests"),
    gauge(
        name("vllm:num_requests_waiting_by_reason", "0.20.0"),
        says="Sequences that wait, by what they wait for.",
        unit="requests",
        labels=("reason",),
    ),
    gauge(
        name("vllm:num_requests_swapped", "0.2.3", "0.9.0"),
        says="Sequences swapped out to host memory (V0 engine).",
        unit="requests",
    ),
    counter(
        name("vllm:request_success_total", "0.4.2"),
        says="Sequences that ended, by how: errors and aborts count here too.",
        unit="requests",
        labels=("finished_reason",),
    ),
    counter(
        name("vllm:admission_rejections_total", "0.32.0"),
        says="Requests refused with HTTP 503 since the queue was at its limit.",
        unit="requests",
        scope=SERVER,
        labels=("reason",),
    ),
    counter(
        name("vllm:num_preemptions_total", "0.4.3"),
        says="Sequences put back to waiting for want of KV cache.",
        unit="events",
    ),
    counter(
        name("vllm:corrupted_requests_total", "0.11.1"),
        says="Requests whose logits held NaN.",
        unit="requests",
        condition="VLLM_COMPUTE_NANS_IN_LOGITS=1",
    ),
    counter(
        name("vllm:watermark_requests_total", "0.32.0"),
        says="Requests by whether their output was watermarked.",
        unit="requests",
        labels=("status",),
        condition="a watermark configuration",
    ),
    histogram(
        name("vllm:request_prompt_tokens", "0.4.2"), says="Prompt length of each request that ended.", unit="tokens"
    ),
    histogram(
        name("vllm:request_generation_tokens", "0.4.2"),
        says="Tokens generated for each request that ended.",
        unit="tokens",
    ),
    histogram(
        name("vllm:request_max_num_generation_tokens", "0.6.4"),
        says="Longest output among the sequences of each request.",
        unit="tokens",
    ),
    histogram(
        name("vllm:request_params_n", "0.4.2"), says="The parameter n of each request that ended.", unit="sequences"
    ),
    histogram(
        name("vllm:request_params_best_of", "0.4.2", "0.6.2"),
        says="The parameter best_of of each request that ended (V0 engine).",
        unit="sequences",
    ),
    histogram(
        name("vllm:request_params_max_tokens", "0.6.4"),
        says="The parameter max_tokens of each request that set it.",
        unit="tokens",
    ),
    histogram(
        name("vllm:request_num_preemptions", "0.30.0"),
        says="Preemptions that each request went through.",
        unit="events",
    ),
    histogram(
        name("vllm:request_prefill_kv_computed_tokens", "0.13.0"),
        says="Tokens that prefill computed for each request, cached ones left out.",
        unit="tokens",
    ),
    counter(
        name("vllm:tool_call_parser_invocations_total", "0.24.0"),
        says="Runs of the tool-call parser, by outcome.",
        unit="calls",
        scope=SERVER,
        labels=(
            "mode",
            "outcome",
            "request_type",
        ),
        condition="--tool-call-parser",
    ),
)
