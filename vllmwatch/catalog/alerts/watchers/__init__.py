"""Whether those who watch can see."""

from types import ModuleType

from vllmwatch.catalog.alerts.watchers import (
    config_reload_failed,
    discovery_failing,
    exporter_down,
    gpu_users_unknown,
    nobody_is_paged,
    notifications_failing,
    nvml_down,
    rules_failing,
    rules_missing,
    target_metrics_missing,
    target_scrape_slow,
    watchdog,
)

MODULES: tuple[ModuleType, ...] = (
    watchdog,
    exporter_down,
    target_metrics_missing,
    target_scrape_slow,
    nvml_down,
    gpu_users_unknown,
    discovery_failing,
    config_reload_failed,
    rules_failing,
    rules_missing,
    notifications_failing,
    nobody_is_paged,
)
