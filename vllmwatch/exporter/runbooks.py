"""The runbooks of alerts, read from their modules when somebody asks."""

import ast
import html
from pathlib import Path

from vllmwatch.catalog.alert_names import ALERT_FILES, alert_name


def runbook(asked: str) -> str | None:
    """Return the runbook of an alert in Markdown, or None where there is no such alert.

    It is asked for by the name of its page, as links have it, or by its own, as people know it. The module is read and
    not imported: all alerts with their cases would stay in memory.
    """
    slug = next((slug for slug in ALERT_FILES if asked in {slug, alert_name(slug)}), None)
    if slug is None:
        return None
    return f"# {alert_name(slug)}\n\n{_text(ALERT_FILES[slug])}\n"


def runbook_rows() -> str:
    """Return a row of a table in HTML for each alert: the link to its runbook, and the line that says what it is."""
    rows = ((slug, _text(module).partition("\n")[0]) for slug, module in ALERT_FILES.items())
    return "".join(
        f'<tr><td><a href="/runbooks/{slug}">{alert_name(slug)}</a><td>{html.escape(line)}</tr>\n'
        for slug, line in rows
    )


def _text(module: Path) -> str:
    return ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
