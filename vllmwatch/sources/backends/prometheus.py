"""What Prometheus knows of alerts: those that fire, before Alertmanager mutes any."""

from collections.abc import Mapping
from typing import Any

from vllmwatch.sources.backends.active import ActiveAlert
from vllmwatch.sources.backends.answer import get_json, mapping, sequence, stranger, text

PROGRAM = "Prometheus"
_ALERTS = "/api/v1/alerts"


class PrometheusReader:
    """Reads one Prometheus (API v1); every question may raise BackendError."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def alerts(self) -> tuple[ActiveAlert, ...]:
        """Return all alerts that fire; those that are only pending are left out."""
        found = get_json(PROGRAM, self.base_url, _ALERTS)
        if not isinstance(found, dict) or "alerts" not in mapping(found, "data"):
            raise stranger(PROGRAM, f"{self.base_url}{_ALERTS}", "there is no list of alerts")
        listed = (each for each in sequence(mapping(found, "data"), "alerts") if isinstance(each, dict))
        return tuple(_alert(each) for each in listed if text(each, "state") == "firing")


def _alert(raw: Mapping[str, Any]) -> ActiveAlert:
    return ActiveAlert(
        labels={str(name): str(value) for name, value in mapping(raw, "labels").items()},
        annotations={str(name): str(value) for name, value in mapping(raw, "annotations").items()},
        state="active",
        starts_at=text(raw, "activeAt"),
    )
