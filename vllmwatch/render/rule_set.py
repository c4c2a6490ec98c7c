"""All that Prometheus and Alertmanager are given, by the settings: rules, routes, and the words of messages."""

from dataclasses import dataclass

from vllmwatch.catalog.alerts import ALERTS, THEMES
from vllmwatch.catalog.recordings import recordings
from vllmwatch.render import mark
from vllmwatch.render.alert_rules import AlertSettings, alert_rule_path, render_alert_rules
from vllmwatch.render.alert_template import render_alert_template
from vllmwatch.render.alertmanager import TEMPLATE_FILE, Routing, render_alertmanager
from vllmwatch.render.dcgm_rules import render_dcgm_rules
from vllmwatch.render.direct import ALERTS_OF_OTHERS, OF_GPUS, render_direct_rules, rule_as_direct
from vllmwatch.render.rules import Rule, render_rules, rule_path

ALERTMANAGER_FILE = "alertmanager.yml"


@dataclass(frozen=True, slots=True)
class Sources:
    """Where Prometheus has the series from that rules read.

    `direct_jobs` is a pattern of the jobs that scrape servers directly, None where the exporter does; `dcgm` says that
    GPUs are those of NVIDIA's dcgm-exporter.
    """

    direct_jobs: str | None = None
    dcgm: bool = False


def rule_set(settings: AlertSettings, routing: Routing, sources: Sources) -> dict[str, str]:
    """Return the text of each file by its path: rules/*.yml, alertmanager.yml and the template beside it."""
    rules = {f"rules/{name}": text for name, text in rule_files(settings, sources).items()}
    told = render_alertmanager(routing, ALERTS, settings, direct=sources.direct_jobs is not None)
    files = rules | {ALERTMANAGER_FILE: told, TEMPLATE_FILE: render_alert_template()}
    return {path: mark.by_settings(text) for path, text in files.items()}


def rule_files(settings: AlertSettings, sources: Sources) -> dict[str, str]:
    """Return the text of each rule file of Prometheus by its name."""
    change = rule_as_direct if sources.direct_jobs is not None else _as_it_is
    files: dict[str, str] = {}
    if sources.dcgm:
        files["dcgm.yml"] = render_dcgm_rules()
    if sources.direct_jobs is not None:
        files["direct.yml"] = render_direct_rules(sources.direct_jobs)
    for group in recordings(settings.thresholds):
        files[_name(rule_path(group))] = render_rules(group, _as_it_is if group.theme in OF_GPUS else change)
    for theme, help_text in THEMES.items():
        mine = [alert for alert in ALERTS if alert.theme == theme]
        how = _as_it_is if theme in ALERTS_OF_OTHERS else change
        files[_name(alert_rule_path(theme))] = render_alert_rules(theme, help_text, mine, settings, how)
    return files


def _as_it_is(rule: Rule) -> Rule:
    return rule


def _name(path: str) -> str:
    return path.rpartition("/")[2]
