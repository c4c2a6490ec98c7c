"""Servers and engines that are down, stuck or missing."""

from types import ModuleType

from vllmwatch.catalog.alerts.servers import (
    model_configuration_drift,
    model_without_server,
    vllm_asleep_with_traffic,
    vllm_crash_looping,
    vllm_engine_stuck,
    vllm_scheduler_stalled,
    vllm_server_down,
    vllm_server_never_up,
    vllm_servers_missing,
)

MODULES: tuple[ModuleType, ...] = (
    model_without_server,
    vllm_servers_missing,
    vllm_server_down,
    vllm_server_never_up,
    vllm_engine_stuck,
    vllm_asleep_with_traffic,
    vllm_scheduler_stalled,
    vllm_crash_looping,
    model_configuration_drift,
)
