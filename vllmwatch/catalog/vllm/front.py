"""The front end: HTTP, websockets and the API server process."""

from vllmwatch.catalog.vllm.declare import SERVER, counter, gauge, histogram, name, summary
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    gauge(
        name("vllm:websocket_connections_active", "0.18.0"),
        says="Websocket connections that are open.",
        unit="connections",
        scope=SERVER,
        condition="a realtime model",
    ),
    counter(
        name("vllm:websocket_connections_total", "0.18.0"),
        says="Websocket connections opened.",
        unit="connections",
        scope=SERVER,
        condition="a realtime model",
    ),
    histogram(
        name("vllm:websocket_connection_duration_seconds", "0.18.0"),
        says="Time that a websocket connection stayed open.",
        unit="seconds",
        scope=SERVER,
        condition="a realtime model",
    ),
    counter(
        name("http_requests_total", "0.8.3"),
        says="HTTP requests; refusals of the API key are not counted, aborted streams count as 2xx.",
        unit="requests",
        scope=SERVER,
        labels=("method", "status", "handler"),
    ),
    summary(
        name("http_request_size_bytes", "0.8.3"),
        says="Size of request bodies as their headers say.",
        unit="bytes",
        scope=SERVER,
        labels=("handler",),
    ),
    summary(
        name("http_response_size_bytes", "0.8.3"),
        says="Size of response bodies as their headers say.",
        unit="bytes",
        scope=SERVER,
        labels=("handler",),
    ),
    histogram(
        name("http_request_duration_highr_seconds", "0.8.3"),
        says="Time of HTTP requests, the whole stream included, in fine buckets.",
        unit="seconds",
        scope=SERVER,
    ),
    histogram(
        name("http_request_duration_seconds", "0.8.3"),
        says="Time of HTTP requests, the whole stream included, by handler.",
        unit="seconds",
        scope=SERVER,
        labels=("method", "handler"),
    ),
    gauge(
        name("process_start_time_seconds", "0.4.0"),
        says="When the API server process started; absent with several API servers.",
        unit="seconds since the epoch",
        scope=SERVER,
    ),
    gauge(
        name("process_resident_memory_bytes", "0.4.0"),
        says="Resident memory of the API server process alone, not of engines and workers.",
        unit="bytes",
        scope=SERVER,
    ),
    gauge(
        name("process_virtual_memory_bytes", "0.4.0"),
        says="Virtual memory of the API server process alone.",
        unit="bytes",
        scope=SERVER,
    ),
    counter(
        name("process_cpu_seconds_total", "0.4.0"),
        says="Processor time of the API server process alone.",
        unit="seconds",
        scope=SERVER,
    ),
    gauge(
        name("process_open_fds", "0.4.0"),
        says="Open file descriptors of the API server process.",
        unit="descriptors",
        scope=SERVER,
    ),
    gauge(
        name("process_max_fds", "0.4.0"),
        says="Most file descriptors that the API server process may open.",
        unit="descriptors",
        scope=SERVER,
    ),
)
