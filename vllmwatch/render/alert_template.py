"""vllmwatch.tmpl: what a message says, which model, which server, which GPU, value, since when, and three links."""

_TEMPLATE = """\
{{ define "vllmwatch.title" -}}
[{{ .Status | toUpper }}{{ if eq .Status "firing" }} {{ .Alerts.Firing | len }}{{ end }}] \
{{ with index .Alerts 0 }}{{ .Annotations.summary }}{{ end -}}
{{ with slice .Alerts 1 }} and {{ len . }} more{{ end }}
{{- end }}

{{ define "vllmwatch.text" -}}
{{ range .Alerts -}}
{{ if eq .Status "resolved" }}Over: {{ end }}{{ .Annotations.summary }}
{{ .Labels.alertname }}, {{ .Labels.severity }}
{{ .Annotations.description }}
{{ with .Labels.model_name }}Model: {{ . }}
{{ end }}{{ with .Labels.server }}Server: {{ . }}
{{ end }}{{ with .Labels.engine }}Engine: {{ . }}
{{ end }}{{ with .Labels.uuid }}GPU: {{ . }}
{{ end }}{{ with .Labels.node }}Node: {{ . }}
{{ end }}Since: {{ .StartsAt.UTC.Format "2006-01-02 15:04:05 UTC" }}
Board: {{ .Annotations.dashboard_url }}
{{ with .Annotations.logs_url }}Logs: {{ . }}
{{ end }}Runbook: {{ .Annotations.runbook_url }}

{{ end }}
{{- end }}

{{ define "vllmwatch.board" -}}
{{ with index .Alerts 0 }}{{ .Annotations.dashboard_url }}{{ end }}
{{- end }}
"""


def render_alert_template() -> str:
    """Return the template file of Alertmanager's messages."""
    return _TEMPLATE
