"""Latency: the life of a request, in seconds."""

from vllmwatch.catalog.vllm.declare import histogram, name
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    histogram(
        name("vllm:time_to_first_token_seconds", "0.4.0"),
        says="Time from arrival to the first token, aborted requests included.",
        unit="seconds",
    ),
    histogram(
        name("vllm:inter_token_latency_seconds", "0.10.2"),
        name("vllm:time_per_output_token_seconds", "0.4.0", "0.14.1"),
        says="Time between output steps; with speculation a step has several tokens.",
        unit="seconds",
    ),
    histogram(
        name("vllm:request_time_per_output_token_seconds", "0.11.0"),
        says="Mean time of each output token after the first, by request.",
        unit="seconds",
    ),
    histogram(
        name("vllm:e2e_request_latency_seconds", "0.4.0"),
        says="Time from arrival to the last token of requests that ended by themselves.",
        unit="seconds",
    ),
    histogram(
        name("vllm:request_queue_time_seconds", "0.6.4"), says="Time from queued to first scheduled.", unit="seconds"
    ),
    histogram(
        name("vllm:request_prefill_time_seconds", "0.6.4"),
        says="Time from first scheduled to the first token.",
        unit="seconds",
    ),
    histogram(
        name("vllm:request_decode_time_seconds", "0.6.4"), says="Time from the first token to the last.", unit="seconds"
    ),
    histogram(
        name("vllm:request_inference_time_seconds", "0.6.4"),
        says="Time from first scheduled to the last token.",
        unit="seconds",
    ),
    histogram(
        name("vllm:time_in_queue_requests", "0.6.4", "0.9.0"),
        says="Time in the queue (V0 engine; request_queue_time_seconds beside it says the same).",
        unit="seconds",
    ),
    histogram(
        name("vllm:model_forward_time_milliseconds", "0.6.4", "0.9.0"),
        says="Time of the forward pass (V0 engine).",
        unit="milliseconds",
    ),
    histogram(
        name("vllm:model_execute_time_milliseconds", "0.6.4", "0.9.0"),
        says="Time of the model execution with sampling and synchronisation (V0 engine).",
        unit="milliseconds",
    ),
)
