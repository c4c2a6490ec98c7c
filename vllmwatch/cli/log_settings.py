"""From the configuration to what the way of logs is rendered by."""

from collections.abc import Iterable

from vllmwatch.config import Config
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.sources.logs.origin import LogOrigin


def log_settings(config: Config) -> LogSettings:
    """Return what is shipped and kept; raises VllmwatchError for a log of which nobody said whose it is."""
    return LogSettings(
        loki_url=config.loki_url.rstrip("/"),
        alertmanager_url=config.alertmanager_url,
        containers=config.log_containers,
        files=_pairs("log_files", config.log_files),
        units=_pairs("log_units", config.log_units),
        time_zone=config.log_time_zone,
        keep_payloads=config.log_payloads,
        retention_seconds=config.log_retention_seconds,
        payload_retention_seconds=config.log_payload_retention_seconds,
    )


def _pairs(key: str, origins: Iterable[LogOrigin]) -> tuple[tuple[str, str], ...]:
    found = tuple((origin.server, origin.name) for origin in origins)
    for server, name in found:
        if not server:
            raise VllmwatchError(
                f"{key}: {name}: the exporter may find out whose log this is, and what ships logs cannot",
                hint=f"Write SERVER={name}, with the server as it is called in the metrics.",
            )
    return found
