"""docs/reference/alerts/*.md: the runbook of every alert, and the list of them all."""

from collections.abc import Mapping, Sequence

from vllmwatch.render import mark
from vllmwatch.render.alert_rules import AlertSettings, severity_of
from vllmwatch.render.tables import code, table
from vllmwatch.spec.alert import Alert

SECTIONS: tuple[str, ...] = (
    "What it means",
    "Why it matters",
    "First look",
    "What to do",
    "When it lies",
)


def render_runbook(alert: Alert, runbook: str, settings: AlertSettings) -> str:
    """Return the page of an alert; raises ValueError when its runbook lacks a section, or has another."""
    headings = tuple(line.removeprefix("## ") for line in runbook.splitlines() if line.startswith("## "))
    if headings != SECTIONS:
        raise ValueError(f"{alert.name}: the runbook has the sections {', '.join(SECTIONS)}")
    rows = [
        ("severity", _severity(alert, settings)),
        ("about", str(alert.subject).replace("_", " ")),
        ("labels", ", ".join(map(code, alert.labels)) or "none"),
        ("holds for", alert.hold),
    ]
    if alert.threshold:
        of_models = ", for each model where `models` says so" if alert.per_model else ""
        rows.append(("threshold", f"{code(alert.threshold)}{of_models}"))
    if alert.causes:
        rows.append(("muted by", ", ".join(map(code, alert.causes))))
    expression = f"```promql\n{alert.expression_for(f'<{alert.threshold}>' if alert.threshold else '')}\n```"
    return mark.markdown(
        "\n\n".join([f"# {alert.name}", runbook.strip(), "## The rule", table(("", ""), rows), expression])
    )


def _severity(alert: Alert, settings: AlertSettings) -> str:
    usual, own = (severity_of(alert, settings, own_threshold=own) for own in (False, True))
    return str(usual) if own is usual else f"{usual}; {own} for a model that has a threshold of its own"


def render_runbook_index(alerts: Sequence[Alert], themes: Mapping[str, str], settings: AlertSettings) -> str:
    """Return the list of all alerts by theme; raises ValueError for a theme without alerts."""
    parts = ["# Alerts"]
    for theme, help_text in themes.items():
        mine = [alert for alert in alerts if alert.theme == theme]
        if not mine:
            raise ValueError(f"{theme}: there are no alerts")
        rows = [
            (f"[{alert.name}]({alert.slug}.md)", str(severity_of(alert, settings)), alert.summary) for alert in mine
        ]
        parts += [f"## {theme.capitalize()}", help_text, table(("alert", "severity", "summary"), rows)]
    return mark.markdown("\n\n".join(parts))


def runbook_path(alert: Alert) -> str:
    """Return where the page of an alert lies in the checkout."""
    return f"docs/reference/alerts/{alert.slug}.md"
