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
    files = {rule_path(group).removeprefix("alerts/"): render_rules(group) for group in RECORDINGS}
    for theme, help_text in THEMES.items():
        mine = [alert for alert in ALERTS if alert.theme == theme]
        path = alert_rule_path(theme).removeprefix("alerts/")
        files[path] = render_alert_rules(theme, help_text, mine, settings)
    return files | {ALERTMANAGER_FILE: render_alertmanager(routing, ALERTS), TEMPLATE_FILE: render_alert_template()}
