"""alerts/tests/alerts_*.yml: the cases of the alerts as unit tests of promtool."""

from collections.abc import Mapping, Sequence
from typing import Any

from vllmwatch.render import mark
from vllmwatch.render.alert_rules import INTERVAL, AlertSettings, alert_rule_path, severity_of
from vllmwatch.render.promtool import groups_read_by
from vllmwatch.render.rules import dump, rule_path
from vllmwatch.spec.alert import Alert
from vllmwatch.spec.case import INTERVAL_SECONDS, Case
from vllmwatch.spec.recording import Group


def render_alert_cases(theme: str, alerts: Sequence[Alert], groups: Sequence[Group], settings: AlertSettings) -> str:
    """Return the test file of the alerts of a theme, which loads the recordings that they lean on."""
    needed = groups_read_by([alert.expression for alert in alerts], groups)
    data = {
        "rule_files": [f"../rules/{rule_path(group).rpartition('/')[2]}" for group in needed]
        + [f"../rules/{alert_rule_path(theme).rpartition('/')[2]}"],
        "evaluation_interval": INTERVAL,
        "group_eval_order": [*(group.name for group in needed), f"vllmwatch-alerts-{theme}"],
        "tests": [_test(alert, case, settings) for alert in alerts for case in alert.cases],
    }
    return mark.comment(dump(data))


def alert_case_path(theme: str) -> str:
    """Return where the test file of a theme lies in the checkout."""
    return f"alerts/tests/alerts_{theme}.yml"


def _test(alert: Alert, case: Case, settings: AlertSettings) -> dict[str, Any]:
    return {
        "name": f"{alert.name}: {case.kind}: {case.title}",
        "interval": f"{INTERVAL_SECONDS}s",
        "input_series": [{"series": series.selector, "values": series.values} for series in case.series],
        "promql_expr_test": [
            {
                "expr": f'ALERTS{{alertname="{alert.name}", alertstate="firing"}}',
                "eval_time": check.time,
                "exp_samples": [{"labels": _labels(alert, each, settings), "value": 1} for each in check.firing],
            }
            for check in case.checks
        ],
    }


def _labels(alert: Alert, own: Mapping[str, str], settings: AlertSettings) -> str:
    every = {
        **{name: value for name, value in own.items() if value},
        "alertname": alert.name,
        "alertstate": "firing",
        "severity": str(severity_of(alert, settings)),
        "team": settings.team,
    }
    pairs = ", ".join(f'{name}="{value}"' for name, value in sorted(every.items()))
    return f"ALERTS{{{pairs}}}"
