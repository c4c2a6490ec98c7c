"""A configuration of the OpenTelemetry Collector that ships logs to Elasticsearch, from the catalogue of lines."""

from typing import Any

from vllmwatch.render import mark
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.render.otel.operators import operators
from vllmwatch.render.rules import dump
from vllmwatch.spec.logline import LogCatalog

OTEL_PATH = "docs/reference/otel_collector.yml"
EXAMPLE = LogSettings(files=(("gpu1:8000", "/var/log/vllm/*.log"),))
"""What the reference page shows, for whoever has no files of logs in the settings."""
_STORAGE = "file_storage"
_EXPORTER = "elasticsearch"


def render_otel(catalog: LogCatalog, settings: LogSettings) -> str:
    """Return the configuration; raises ValueError where no file is to be read."""
    if not settings.files:
        raise ValueError("no file of logs is named")
    return mark.comment(dump(_escaped(_configuration(catalog, settings))))


def _configuration(catalog: LogCatalog, settings: LogSettings) -> dict[str, Any]:
    receivers = {
        f"filelog/{number}": {
            "include": [path],
            "include_file_path": True,
            "start_at": "beginning",
            "preserve_leading_whitespaces": True,
            "preserve_trailing_whitespaces": True,
            "storage": _STORAGE,
            "resource": {"job": "vllm", "node": _Variable("VLLMWATCH_NODE:-unknown"), "server": server},
            "operators": list(operators(catalog, settings)),
        }
        for number, (server, path) in enumerate(settings.files, 1)
    }
    return {
        "extensions": {_STORAGE: {"directory": "/var/lib/otelcol/vllm", "create_directory": True}},
        "receivers": receivers,
        "exporters": {
            _EXPORTER: {
                "endpoints": [_Variable("ELASTICSEARCH_URL")],
                "api_key": _Variable("ELASTICSEARCH_API_KEY"),
                "logs_index": "logs-vllm-default",
                "sending_queue": {"enabled": True, "storage": _STORAGE},
            }
        },
        "service": {
            "extensions": [_STORAGE],
            "pipelines": {"logs": {"receivers": list(receivers), "exporters": [_EXPORTER]}},
        },
    }


class _Variable(str):
    """The name of a variable of the environment, with what holds where it is not set."""

    __slots__ = ()


def _escaped(value: Any) -> Any:
    """Return what the Collector reads as the value: it takes $ for the beginning of a variable."""
    if isinstance(value, _Variable):
        return f"${{env:{value}}}"
    if isinstance(value, str):
        return value.replace("$", "$$")
    if isinstance(value, list):
        return [_escaped(each) for each in value]
    if isinstance(value, dict):
        return {key: _escaped(each) for key, each in value.items()}
    return value
