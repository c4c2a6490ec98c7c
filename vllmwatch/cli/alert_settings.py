"""From the configuration to what the rules and routes are rendered by."""

from vllmwatch.cli.thresholds import thresholds
from vllmwatch.config import Config
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.alertmanager import Routing
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.render.rule_set import Sources
from vllmwatch.spec.receiver import Team


def alert_settings(config: Config) -> AlertSettings:
    """Return the thresholds, severities and links in force."""
    return AlertSettings(
        thresholds=thresholds(config),
        severities=config.severities,
        team=config.team,
        external_labels=config.external_labels,
        runbook_base_url=config.runbook_base_url.rstrip("/"),
        grafana_url=config.grafana_url.rstrip("/"),
    )


def board_settings(config: Config) -> BoardSettings:
    """Return the thresholds, links and data sources of boards."""
    return BoardSettings(
        thresholds=thresholds(config),
        runbook_base_url=config.runbook_base_url.rstrip("/"),
        metrics_source=config.grafana_metrics_source,
        logs_source=config.grafana_logs_source,
    )


def routing(config: Config) -> Routing:
    """Return who is told."""
    return Routing(
        receivers=config.receivers,
        default=Team("", config.page_to, config.ticket_to),
        teams=config.teams,
        heartbeat=config.heartbeat_to or None,
        quiet_hours=config.quiet_hours,
    )


def sources(config: Config) -> Sources:
    """Return where Prometheus has its series from."""
    return Sources(config.direct_jobs or None, config.gpu_metrics == "dcgm")
