"""compose/loki/loki.yml: the configuration of a single Loki that keeps logs on its disk and raises alerts by them.

Retention deletes only where three settings agree: the compactor's `retention_enabled` and `delete_request_store`, and
`retention_period`. `use_thanos_objstore` is said since its default turns with Loki 4.0, which would then pass over the
ruler's folder without an error, and load no rule. The tenant is called `fake` where there is only one, so the rules lie
in a folder of that name.
"""

from typing import Any

from vllmwatch.render import mark
from vllmwatch.render.log_settings import PAYLOAD_LABEL, PAYLOAD_VALUE, LogSettings
from vllmwatch.render.rules import dump

LOKI_PATH = "compose/loki/loki.yml"
RULES_FOLDER = "/etc/loki/rules"
TENANT = "fake"
_DATA = "/loki"
_HOUR = 3600
_HELP = (
    f"# Loki 3.x and 4.0, as one process: data in {_DATA}, rules in {RULES_FOLDER}/{TENANT}.\n"
    "# It asks for no password: let nobody but Alloy and Grafana reach its port."
)


def render_loki(settings: LogSettings) -> str:
    """Return the text of loki.yml."""
    return mark.comment(f"{_HELP}\n{dump(_configuration(settings))}")


def _configuration(settings: LogSettings) -> dict[str, Any]:
    return {
        "auth_enabled": False,
        "server": {"http_listen_port": 3100, "grpc_listen_port": 9096, "log_level": "warn"},
        "common": {
            "instance_addr": "127.0.0.1",
            "path_prefix": _DATA,
            "replication_factor": 1,
            "ring": _ring(),
            "storage": {
                "filesystem": {"chunks_directory": f"{_DATA}/chunks", "rules_directory": f"{_DATA}/rules-unused"}
            },
        },
        "schema_config": {
            "configs": [
                {
                    "from": "2024-04-01",
                    "store": "tsdb",
                    "object_store": "filesystem",
                    "schema": "v13",
                    "index": {"prefix": "index_", "period": "24h"},
                }
            ]
        },
        "storage_config": {"use_thanos_objstore": False},
        "compactor": {
            "working_directory": f"{_DATA}/compactor",
            "retention_enabled": True,
            "delete_request_store": "filesystem",
        },
        "limits_config": _limits(settings),
        "ruler": {
            "storage": {"type": "local", "local": {"directory": RULES_FOLDER}},
            "rule_path": f"{_DATA}/rules-temp",
            "alertmanager_url": settings.alertmanager_url,
            "enable_api": True,
            "ring": _ring(),
            "wal": {"dir": f"{_DATA}/ruler-wal"},
        },
        "query_range": {"parallelise_shardable_queries": False},
        "analytics": {"reporting_enabled": False},
    }


def _ring() -> dict[str, Any]:
    return {"kvstore": {"store": "inmemory"}}


def _limits(settings: LogSettings) -> dict[str, Any]:
    return {
        "retention_period": _hours(settings.retention_seconds),
        "retention_stream": [
            {
                "selector": f'{{{PAYLOAD_LABEL}="{PAYLOAD_VALUE}"}}',
                "priority": 1,
                "period": _hours(settings.payload_retention_seconds),
            }
        ],
        "allow_structured_metadata": True,
        # A line of a shipper that catches up comes faster than those of a server that writes.
        "ingestion_rate_mb": 16,
        "ingestion_burst_size_mb": 32,
        "per_stream_rate_limit": "8MB",
        "per_stream_rate_limit_burst": "32MB",
        "max_line_size": "256KB",
        "max_line_size_truncate": True,
        "reject_old_samples": True,
        "reject_old_samples_max_age": "168h",
    }


def _hours(seconds: float) -> str:
    """Return a duration as Loki writes it; whole hours, rounded up, since it keeps for a day at least."""
    return f"{-int(-seconds // _HOUR)}h"
