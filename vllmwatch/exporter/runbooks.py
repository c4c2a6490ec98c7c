"""The runbooks of alerts as text, read from their modules when somebody asks."""

import ast

from vllmwatch.catalog.alert_names import ALERT_FILES, alert_name


def runbook(asked: str) -> str | None:
    """Return the runbook of an alert in Markdown, or None where there is no such alert.

    It is asked for by the name of its page, as links have it, or by its own, as people know it. The module is read and
    not imported: all alerts with their cases would stay in memory.
    """
    slug = next((slug for slug in ALERT_FILES if asked in {slug, alert_name(slug)}), None)
    if slug is None:
        return None
    text = ast.get_docstring(ast.parse(ALERT_FILES[slug].read_text(encoding="utf-8")))
    return None if text is None else f"# {alert_name(slug)}\n\n{text}\n"
