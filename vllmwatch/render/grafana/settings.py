"""What the settings make of boards: thresholds, where links lead, and which data sources are asked."""

from dataclasses import dataclass

from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.spec.threshold import Thresholds

DEFAULT_SOURCE = "default"
"""Grafana's word for the data source that is its own default."""


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """What the settings make of boards; data sources are named by their uid, or as Grafana's default."""

    thresholds: Thresholds = DEFAULTS
    runbook_base_url: str = "http://localhost:9836/runbooks"
    metrics_source: str = DEFAULT_SOURCE
    logs_source: str = DEFAULT_SOURCE
