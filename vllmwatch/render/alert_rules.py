"""alerts/rules/alerts_*.yml: rule files of Prometheus with the alerts of one theme each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vllmwatch.catalog.boards import BOARDS
from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.render import mark
from vllmwatch.render.rules import Rule, Text, dump, indented
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.promql import either, is_none_of, is_one_of, is_text
from vllmwatch.spec.threshold import Thresholds

INTERVAL = "30s"
# What a board shows is chosen by these.
_VARIABLES = {board.uid: [variable.name for variable in board.variables] for board in BOARDS}


@dataclass(frozen=True, slots=True)
class AlertSettings:
    """What the settings make of alerts: thresholds, severities by name, the team, and where the links lead.

    `external_labels` are those that Prometheus adds, by which fleets on one Alertmanager are told apart.
    """

    thresholds: Thresholds = DEFAULTS
    severities: Mapping[str, Severity] = field(default_factory=dict)
    team: str = "vllm"
    external_labels: tuple[str, ...] = ()
    runbook_base_url: str = "http://localhost:9836/runbooks"
    grafana_url: str = "http://localhost:3000"


def render_alert_rules(
    theme: str,
    help_text: str,
    alerts: Sequence[Alert],
    settings: AlertSettings,
    change: Callable[[Rule], Rule] = lambda rule: rule,
) -> str:
    """Return the rule file of the alerts of a theme, each as `change` makes it; raises ValueError without alerts."""
    if not alerts:
        raise ValueError(f"{theme}: there are no alerts")
    rules = [change(rule) for alert in alerts for rule in _rules(alert, settings)]
    group = {"name": f"vllmwatch-alerts-{theme}", "interval": INTERVAL, "rules": rules}
    return mark.comment(f"# {help_text}\n{dump({'groups': [group]})}")


def alert_rule_path(theme: str) -> str:
    """Return where the rule file of a theme lies in the checkout."""
    return f"alerts/rules/alerts_{theme}.yml"


def severity_of(alert: Alert, settings: AlertSettings, *, own_threshold: bool = False) -> Severity:
    """Return the severity in force, for all models or for one with a threshold of its own."""
    usual = alert.own_severity if own_threshold and alert.own_severity else alert.severity
    return settings.severities.get(alert.name, usual)


def _rules(alert: Alert, settings: AlertSettings) -> Iterator[dict[str, Any]]:
    """Yield one rule for each severity, with what holds for all models and what holds for those that are set apart.

    Two rules of one name and the same labels would be told from each other by nobody.
    """
    by_severity: dict[Severity, list[str]] = {}
    for severity, expression in _expressions(alert, settings):
        by_severity.setdefault(severity, []).append(expression)
    for severity, expressions in by_severity.items():
        whole = expressions[0] if len(expressions) == 1 else either(*(f"(\n{each}\n)" for each in expressions))
        yield rule_of(alert, whole, severity, settings)


def _expressions(alert: Alert, settings: AlertSettings) -> Iterator[tuple[Severity, str]]:
    """Yield the expression for all models, or for those without a threshold of their own, and then the others'."""
    thresholds = settings.thresholds
    keys = [key for key in (alert.threshold, alert.counted_at) if key] if alert.per_model else []
    own = thresholds.apart(keys)
    others = is_none_of("model_name", own) if own else ""
    everywhere = _number(thresholds.everywhere[alert.threshold]) if alert.threshold else ""
    yield severity_of(alert, settings), alert.expression_for(everywhere, others)
    severity = severity_of(alert, settings, own_threshold=True)
    if alert.threshold:
        for model in own:
            value = thresholds.models[model].get(alert.threshold)
            number = everywhere if value is None else _number(value)
            yield severity, alert.expression_for(number, is_text("model_name", model))
    elif own:
        yield severity, alert.expression_for("", is_one_of("model_name", own))


def rule_of(alert: Alert, expression: str, severity: Severity, settings: AlertSettings) -> dict[str, Any]:
    """Return a rule of an alert by an expression, of Prometheus or of Loki: its labels and its words."""
    rule: dict[str, Any] = {"alert": alert.name, "expr": Text(indented(expression))}
    if alert.hold != "0s":
        rule["for"] = alert.hold
    if alert.keep_firing != "0s":
        rule["keep_firing_for"] = alert.keep_firing
    return rule | {
        "labels": {"severity": str(severity), "team": settings.team},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            "runbook_url": f"{settings.runbook_base_url}/{alert.slug}",
            "dashboard_url": _board_url(alert, alert.board, settings.grafana_url),
            "logs_url": _board_url(alert, Board.LOGS, settings.grafana_url),
        },
    }


def _board_url(alert: Alert, board: Board, grafana_url: str) -> str:
    labels = [label for label in _VARIABLES[board] if label in alert.labels and alert.subject is not Subject.STACK]
    variables = "&".join(f"var-{label}={{{{ $labels.{label} | urlquery }}}}" for label in labels)
    return f"{grafana_url}/d/{board}{'?' if variables else ''}{variables}"


def _number(value: float) -> str:
    return f"{value:.12g}"
