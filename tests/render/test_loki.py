"""The configuration of Loki: what would keep logs for ever, or load no rule without a word, does not happen."""

from typing import Any

import yaml

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.render.alloy.stages import server_stages
from vllmwatch.render.alloy.syntax import write
from vllmwatch.render.log_settings import DAY, LogSettings
from vllmwatch.render.loki import render_loki

# The parts that Loki's reference (docs/sources/shared/configuration.md in grafana/loki, 3.7 and main) names.
_PARTS = {
    "auth_enabled": None,
    "server": {"http_listen_port", "grpc_listen_port", "log_level"},
    "common": {"instance_addr", "path_prefix", "replication_factor", "ring", "storage"},
    "schema_config": {"configs"},
    "storage_config": {"use_thanos_objstore"},
    "compactor": {"working_directory", "retention_enabled", "delete_request_store"},
    "limits_config": {
        "retention_period",
        "retention_stream",
        "allow_structured_metadata",
        "ingestion_rate_mb",
        "ingestion_burst_size_mb",
        "per_stream_rate_limit",
        "per_stream_rate_limit_burst",
        "max_line_size",
        "max_line_size_truncate",
        "reject_old_samples",
        "reject_old_samples_max_age",
    },
    "ruler": {"storage", "rule_path", "alertmanager_url", "enable_api", "ring", "wal"},
    "query_range": {"parallelise_shardable_queries"},
    "analytics": {"reporting_enabled"},
}
# What 4.0 no longer knows, or what only other kinds of storage have.
_GONE = ("boltdb", "table_manager", "shared_store", "remote_write", "write_target", "enforce_metric_name")


def configuration(settings: LogSettings | None = None) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(render_loki(settings or LogSettings()))
    return found


def test_retention_deletes() -> None:
    found = configuration()
    assert found["compactor"]["retention_enabled"] is True
    assert found["compactor"]["delete_request_store"] == found["schema_config"]["configs"][0]["object_store"]
    assert found["limits_config"]["retention_period"] == "336h"
    assert found["schema_config"]["configs"][0]["index"]["period"] == "24h"


def test_what_users_wrote_is_kept_for_less_long() -> None:
    found = configuration(LogSettings(retention_seconds=90 * DAY, payload_retention_seconds=2 * DAY + 1))
    assert found["limits_config"]["retention_period"] == "2160h"
    assert found["limits_config"]["retention_stream"] == [
        {"selector": '{payload="kept"}', "priority": 1, "period": "49h"}
    ]
    text = write(list(server_stages(LOG_CATALOG, LogSettings(keep_payloads=True))))
    assert 'payload = "kept"' in text


def test_structured_metadata_can_be_had() -> None:
    found = configuration()
    (schema,) = found["schema_config"]["configs"]
    assert (schema["store"], schema["schema"]) == ("tsdb", "v13")
    assert found["limits_config"]["allow_structured_metadata"] is True


def test_rules_are_loaded_by_3_and_by_4_0() -> None:
    found = configuration(LogSettings(alertmanager_url="http://alertmanager:9093"))
    assert found["storage_config"]["use_thanos_objstore"] is False
    assert found["ruler"]["storage"] == {"type": "local", "local": {"directory": "/etc/loki/rules"}}
    assert found["ruler"]["wal"]["dir"].startswith("/")
    assert found["ruler"]["alertmanager_url"] == "http://alertmanager:9093"
    assert found["ruler"]["ring"] == {"kvstore": {"store": "inmemory"}}
    assert found["common"]["storage"]["filesystem"]["rules_directory"] != "/etc/loki/rules"


def test_only_what_the_reference_names_is_said() -> None:
    found = configuration()
    assert set(found) == set(_PARTS)
    for name, keys in _PARTS.items():
        assert keys is None or set(found[name]) <= keys, name
    assert not any(word in render_loki(LogSettings()) for word in _GONE)
