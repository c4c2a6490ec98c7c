"""What ntfy makes of Alertmanager's JSON: a template that stands in the address itself.

The query parameters tpl, t and m are those of ntfy 2.10 and newer (https://docs.ntfy.sh/publish/#message-templating).
"""

from urllib.parse import quote

_TITLE = (
    '[{{ if eq .status "firing" }}FIRING{{ else }}RESOLVED{{ end }}] {{ (index .alerts 0).annotations.summary }}'
    "{{ if gt (len .alerts) 1 }} ({{ len .alerts }} alerts){{ end }}"
)
_LABELS = (("Model", "model_name"), ("Server", "server"), ("Server", "instance"), ("GPU", "uuid"), ("Node", "node"))
_LINKS = (("Board", "dashboard_url"), ("Logs", "logs_url"), ("Runbook", "runbook_url"))


def ntfy_address(topic: str) -> str:
    """Return the address of a topic at which Alertmanager's messages become ours."""
    return f"{topic}{'&' if '?' in topic else '?'}tpl=1&t={quote(_TITLE, safe='')}&m={quote(_message(), safe='')}"


def _message() -> str:
    lines = (
        '{{ if eq .status "resolved" }}Over: {{ end }}{{ .annotations.summary }}\n{{ .annotations.description }}\n',
        *(f"{{{{ with .labels.{label} }}}}{word}: {{{{ . }}}}\n{{{{ end }}}}" for word, label in _LABELS),
        "Since: {{ .startsAt }}\n",
        *(f"{{{{ with .annotations.{link} }}}}{word}: {{{{ . }}}}\n{{{{ end }}}}" for word, link in _LINKS),
    )
    return f"{{{{ range .alerts }}}}{''.join(lines)}\n{{{{ end }}}}"
