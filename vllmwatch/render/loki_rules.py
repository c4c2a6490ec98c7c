"""alerts/loki/*.yml: rule files of Loki's ruler, with the alerts that logs tell of, by theme.

They have the names, labels and words of the rules of Prometheus, so that Alertmanager takes the two for one. Prometheus
cannot read these files: their expressions are LogQL.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from vllmwatch.render import mark
from vllmwatch.render.alert_rules import AlertSettings, rule_of, severity_of
from vllmwatch.render.rules import dump
from vllmwatch.spec.alert import EVENT_WINDOW, Alert
from vllmwatch.spec.logline import LogSource

INTERVAL = "1m"
_LABELS = "node, server, event"


def loki_rule_files(alerts: Sequence[Alert], themes: Mapping[str, str], settings: AlertSettings) -> dict[str, str]:
    """Return the text of each rule file by its name; a theme without an alert about a log has none."""
    files = {}
    for theme, help_text in themes.items():
        mine = [alert for alert in alerts if alert.theme == theme and alert.events]
        if mine:
            files[f"alerts_{theme}.yml"] = _file(theme, help_text, mine, settings)
    return files


def loki_rule_path(name: str) -> str:
    """Return where a rule file lies in the checkout."""
    return f"alerts/loki/{name}"


def expression(alert: Alert) -> str:
    """Return the LogQL of an alert: how many lines told of its events lately, by server."""
    told = "|".join(alert.events)
    lines = f'{{job="{LogSource.VLLM}"}} | event=~"{told}" [{EVENT_WINDOW}]'
    return f"sum by ({_LABELS}) (count_over_time({lines})) > 0"


def _file(theme: str, help_text: str, alerts: Sequence[Alert], settings: AlertSettings) -> str:
    rules: list[dict[str, Any]] = [
        rule_of(alert, expression(alert), severity_of(alert, settings), settings) for alert in alerts
    ]
    group = {"name": f"vllmwatch-alerts-{theme}", "interval": INTERVAL, "rules": rules}
    return mark.comment(f"# {help_text}\n{dump({'groups': [group]})}")
