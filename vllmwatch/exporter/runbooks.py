"""The runbooks of alerts as text, read from their modules when somebody asks."""

import ast

from vllmwatch.catalog.alert_names import ALERT_FILES


def runbook(slug: str) -> str | None:
    """Return the runbook of an alert in Markdown by the name of its page, or None where there is no such alert.

    The module is read and not imported: all alerts with their cases would stay in memory.
    """
    path = ALERT_FILES.get(slug)
    if path is None:
        return None
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    return None if text is None else f"# {slug}\n\n{text}\n"
