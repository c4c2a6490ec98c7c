"""Every threshold: what each alert holds its figure against unless the settings say otherwise."""

from vllmwatch.catalog.latencies import (
    FIRST_TOKEN_EDGES,
    FIRST_TOKEN_EDGES_SETTING,
    INTER_TOKEN_EDGES,
    INTER_TOKEN_EDGES_SETTING,
    REQUEST_EDGES,
    REQUEST_EDGES_SETTING,
)
from vllmwatch.spec.threshold import Threshold, Thresholds
from vllmwatch.spec.unit import CELSIUS, RATIO, SECONDS

GPU_TEMPERATURE = Threshold(
    "gpu_temperature_celsius", 85, CELSIUS, "The temperature of a GPU above which it is too hot."
)
KV_CACHE_USAGE = Threshold(
    "kv_cache_usage_ratio",
    0.9,
    RATIO,
    "The share of the KV cache in use above which it is nearly full.",
    per_model=True,
)
REQUEST_LATENCY = Threshold(
    "request_latency_p99_seconds",
    2,
    SECONDS,
    "The time that 99 % of requests are to take at most, from arrival to the last token.",
    per_model=True,
    edges=REQUEST_EDGES,
    edges_setting=REQUEST_EDGES_SETTING,
)
FIRST_TOKEN = Threshold(
    "time_to_first_token_p99_seconds",
    2.5,
    SECONDS,
    "The time that 99 % of requests are to wait for their first token at most.",
    per_model=True,
    edges=FIRST_TOKEN_EDGES,
    edges_setting=FIRST_TOKEN_EDGES_SETTING,
)
INTER_TOKEN = Threshold(
    "inter_token_latency_p99_seconds",
    0.1,
    SECONDS,
    "The time between two output steps that 99 % of them are to take at most.",
    per_model=True,
    edges=INTER_TOKEN_EDGES,
    edges_setting=INTER_TOKEN_EDGES_SETTING,
)
QUEUE_TIME = Threshold(
    "queue_time_p90_seconds",
    1,
    SECONDS,
    "The time that 90 % of requests are to wait at most before the engine begins with them.",
    per_model=True,
    edges=REQUEST_EDGES,
    edges_setting=REQUEST_EDGES_SETTING,
)
REQUEST_OBJECTIVE = Threshold(
    "request_latency_objective_ratio",
    0.95,
    RATIO,
    "The share of requests that are to be within request_latency_p99_seconds over 30 days.",
    per_model=True,
)
FIRST_TOKEN_OBJECTIVE = Threshold(
    "time_to_first_token_objective_ratio",
    0.99,
    RATIO,
    "The share of requests that are to have their first token within time_to_first_token_p99_seconds over 30 days.",
    per_model=True,
)
AVAILABILITY_OBJECTIVE = Threshold(
    "availability_objective_ratio",
    0.999,
    RATIO,
    "The share of requests that are to end without an error of the server over 30 days.",
    per_model=True,
)

THRESHOLDS: tuple[Threshold, ...] = (
    GPU_TEMPERATURE,
    KV_CACHE_USAGE,
    REQUEST_LATENCY,
    FIRST_TOKEN,
    INTER_TOKEN,
    QUEUE_TIME,
    REQUEST_OBJECTIVE,
    FIRST_TOKEN_OBJECTIVE,
    AVAILABILITY_OBJECTIVE,
)
DEFAULTS = Thresholds({threshold.key: threshold.default for threshold in THRESHOLDS})
