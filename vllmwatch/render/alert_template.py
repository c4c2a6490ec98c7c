"""vllmwatch.tmpl: what a message says, which model, which server, which GPU, value, since when, and three links."""

from vllmwatch.render import mark

_TEMPLATE = """\
{{ define "vllmwatch.title" -}}
[{{ .Status | toUpper }}{{ if eq .Status "firing" }} {{ .Alerts.Firing | len }}{{ end }}] \
{{ $alerts := .Alerts.Firing }}{{ if not $alerts }}{{ $alerts = .Alerts.Resolved }}{{ end -}}
{{ with index $alerts 0 }}{{ .Annotations.summary }}{{ end -}}
{{ with slice $alerts 1 }} and {{ len . }} more{{ end }}
{{- end }}

{{ define "vllmwatch.text" -}}
{{ range .Alerts.Firing }}{{ template "vllmwatch.alert" . }}{{ end -}}
{{ range .Alerts.Resolved }}Over: {{ template "vllmwatch.alert" . }}{{ end -}}
{{- end }}

{{ define "vllmwatch.alert" -}}
{{ .Annotations.summary }}
{{ .Labels.alertname }}, {{ .Labels.severity }}
{{ .Annotations.description }}
{{ with .Labels.model_name }}Model: {{ . }}
{{ end }}{{ with .Labels.server }}Server: {{ . }}
{{ end }}{{ with .Labels.instance }}Server: {{ . }}
{{ end }}{{ with .Labels.engine }}Engine: {{ . }}
{{ end }}{{ with .Labels.uuid }}GPU: {{ . }}
{{ end }}{{ with .Labels.node }}Node: {{ . }}
{{ end }}Since: {{ .StartsAt.UTC.Format "2006-01-02 15:04:05 UTC" }}
{{ if eq .Status "resolved" }}Until: {{ .EndsAt.UTC.Format "2006-01-02 15:04:05 UTC" }}
{{ end }}Board: {{ .Annotations.dashboard_url }}
{{ with .Annotations.logs_url }}Logs: {{ . }}
{{ end }}Runbook: {{ .Annotations.runbook_url }}

{{ end }}

{{ define "vllmwatch.board" -}}
{{ $alerts := .Alerts.Firing }}{{ if not $alerts }}{{ $alerts = .Alerts.Resolved }}{{ end -}}
{{ with index $alerts 0 }}{{ .Annotations.dashboard_url }}{{ end }}
{{- end }}
"""


def render_alert_template() -> str:
    """Return the template file of Alertmanager's messages."""
    return mark.template(_TEMPLATE)
