"""Requests that fail, are refused, or are given up."""

from types import ModuleType

from vllmwatch.catalog.alerts.errors import (
    availability_budget_burning,
    requests_abandoned,
    requests_rejected,
    vllm_http_errors_high,
    vllm_request_errors_high,
)

MODULES: tuple[ModuleType, ...] = (
    vllm_request_errors_high,
    vllm_http_errors_high,
    availability_budget_burning,
    requests_rejected,
    requests_abandoned,
)
