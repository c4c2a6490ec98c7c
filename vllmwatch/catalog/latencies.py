"""The latencies that vLLM measures, each a histogram with the bucket edges at which it can be counted exactly."""

from dataclasses import dataclass

# vLLM 0.32.0, vllm/v1/metrics/buckets.py; the same in 0.33.0. Seconds, without +Inf.
REQUEST_EDGES: tuple[float, ...] = (
    *(0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0),
    *(120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0),
)
FIRST_TOKEN_EDGES: tuple[float, ...] = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0),
    *(20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
INTER_TOKEN_EDGES: tuple[float, ...] = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
REQUEST_EDGES_SETTING = "request_latency_edges"
FIRST_TOKEN_EDGES_SETTING = "time_to_first_token_edges"  # noqa: S105  no secret
INTER_TOKEN_EDGES_SETTING = "inter_token_latency_edges"  # noqa: S105  no secret


@dataclass(frozen=True, slots=True)
class Latency:
    """A histogram of vLLM's in seconds: the `word` that recordings know it by, and its bucket `edges`.

    `edges_setting` names edges beside those: vLLM 0.32 and newer take others by --custom-histogram-buckets.
    """

    word: str
    metric: str
    edges: tuple[float, ...]
    what: str
    edges_setting: str


REQUEST = Latency(
    "request_latency", "vllm:e2e_request_latency_seconds", REQUEST_EDGES, "requests", REQUEST_EDGES_SETTING
)
FIRST_TOKEN = Latency(
    "time_to_first_token",
    "vllm:time_to_first_token_seconds",
    FIRST_TOKEN_EDGES,
    "requests with a first token",
    FIRST_TOKEN_EDGES_SETTING,
)
INTER_TOKEN = Latency(
    "inter_token_latency",
    "vllm:inter_token_latency_seconds",
    INTER_TOKEN_EDGES,
    "output steps",
    INTER_TOKEN_EDGES_SETTING,
)
QUEUE = Latency("queue_time", "vllm:request_queue_time_seconds", REQUEST_EDGES, "requests", REQUEST_EDGES_SETTING)

LATENCIES: tuple[Latency, ...] = (REQUEST, FIRST_TOKEN, INTER_TOKEN, QUEUE)
