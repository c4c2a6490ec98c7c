"""All that logs need on their way, by the settings: Alloy, Loki with its rules, and the Collector for Elasticsearch."""

from vllmwatch.catalog.alerts import ALERTS, THEMES
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.render import mark
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.alloy import render_alloy
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.render.loki import render_loki
from vllmwatch.render.loki_rules import loki_rule_files
from vllmwatch.render.otel import render_otel

RULES_FOLDER = "loki/rules"


def log_files(settings: LogSettings, alerts: AlertSettings) -> dict[str, str]:
    """Return the text of each file by its path; the Collector has one where files are shipped: it reads no more."""
    files = {
        "alloy/config.alloy": render_alloy(LOG_CATALOG, settings),
        "loki/loki.yml": render_loki(settings),
        **{f"{RULES_FOLDER}/{name}": text for name, text in loki_rule_files(ALERTS, THEMES, alerts).items()},
    }
    if settings.files:
        files["otel/collector.yml"] = render_otel(LOG_CATALOG, settings)
    return {path: mark.by_settings(text) for path, text in files.items()}
