"""Every alert: a package a theme, a module an alert, whose docstring is its runbook."""

from collections.abc import Mapping
from types import ModuleType

from vllmwatch.catalog.alerts import (
    caches,
    efficiency,
    errors,
    gpus,
    latency,
    logs,
    saturation,
    servers,
    transfer,
    watchers,
)
from vllmwatch.spec.alert import Alert

_PACKAGES: tuple[ModuleType, ...] = (
    servers,
    errors,
    latency,
    saturation,
    caches,
    transfer,
    gpus,
    logs,
    efficiency,
    watchers,
)

THEMES: Mapping[str, str] = {package.__name__.rpartition(".")[2]: package.__doc__ or "" for package in _PACKAGES}
"""What the alerts of each theme are about."""
MODULES: tuple[ModuleType, ...] = tuple(module for package in _PACKAGES for module in package.MODULES)
ALERTS: tuple[Alert, ...] = tuple(module.ALERT for module in MODULES)
RUNBOOKS: Mapping[str, str] = {module.ALERT.name: module.__doc__ or "" for module in MODULES}
"""The runbook of each alert by its name."""
