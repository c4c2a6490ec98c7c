"""All that Prometheus and Alertmanager are given, by the settings: rules, routes, and the words of messages."""

from vllmwatch.catalog.alerts import ALERTS, THEMES
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.render.alert_rules import AlertSettings, alert_rule_path, render_alert_rules
from vllmwatch.render.alert_template import render_alert_template
from vllmwatch.render.alertmanager import TEMPLATE_FILE, Routing, render_alertmanager
from vllmwatch.render.rules import render_rules, rule_path

ALERTMANAGER_FILE = "alertmanager.yml"


def rule_set(settings: AlertSettings, routing: Routing) -> dict[str, str]:
    """Return the text of each file by its path: rules/*.yml, alertmanager.yml and the template beside it."""
    rules = {f"rules/{name}": text for name, text in rule_files(settings).items()}
    return rules | {ALERTMANAGER_FILE: render_alertmanager(routing, ALERTS), TEMPLATE_FILE: render_alert_template()}


def rule_files(settings: AlertSettings) -> dict[str, str]:
    """Return the text of each rule file of Prometheus by its name."""
    files = {_name(rule_path(group)): render_rules(group) for group in RECORDINGS}
    for theme, help_text in THEMES.items():
        mine = [alert for alert in ALERTS if alert.theme == theme]
        files[_name(alert_rule_path(theme))] = render_alert_rules(theme, help_text, mine, settings)
    return files


def _name(path: str) -> str:
    return path.rpartition("/")[2]
