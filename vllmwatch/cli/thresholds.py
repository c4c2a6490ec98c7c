"""From the configuration to the thresholds in force."""

from vllmwatch.catalog.thresholds import THRESHOLDS
from vllmwatch.config import Config
from vllmwatch.spec.threshold import Thresholds


def thresholds(config: Config) -> Thresholds:
    """Return the thresholds for all models and those of single ones."""
    everywhere = {threshold.key: float(getattr(config, threshold.key)) for threshold in THRESHOLDS}
    settings = {threshold.edges_setting for threshold in THRESHOLDS if threshold.edges_setting}
    return Thresholds(everywhere, config.models, {setting: getattr(config, setting) for setting in settings})
