"""Requests that take too long: to end, to their first token, from token to token, in the queue."""

from types import ModuleType

from vllmwatch.catalog.alerts.latency import (
    inter_token_latency_p99_high,
    latency_edge_missing,
    queue_time_high,
    request_latency_budget_burning,
    request_latency_p99_high,
    time_to_first_token_budget_burning,
    time_to_first_token_p99_high,
)

MODULES: tuple[ModuleType, ...] = (
    request_latency_p99_high,
    time_to_first_token_p99_high,
    inter_token_latency_p99_high,
    queue_time_high,
    request_latency_budget_burning,
    time_to_first_token_budget_burning,
    latency_edge_missing,
)
