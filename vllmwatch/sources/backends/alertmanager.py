"""What Alertmanager knows: alerts with their state, silences, receivers, and how many messages went out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vllmwatch.sources.backends.answer import get, get_json
from vllmwatch.sources.vllm.text import LineError, read_sample

PROGRAM = "Alertmanager"
# Counted when an answer, or none, has come; alertmanager_notifications_total counts what is begun.
_TRIED = "alertmanager_notification_requests_total"
_REFUSED = "alertmanager_notification_requests_failed_total"


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """An alert that is on. `state` is active, suppressed (by a silence or another alert) or unprocessed.

    `starts_at` is as Alertmanager writes it (RFC 3339). `silenced_by` has the ids of silences, `inhibited_by` the
    fingerprints of alerts.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    state: str
    starts_at: str
    silenced_by: tuple[str, ...]
    inhibited_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Silence:
    """A silence. `state` is active, pending or expired; `matchers` are as one writes them (`server="box:8000"`)."""

    id: str
    state: str
    matchers: tuple[str, ...]
    ends_at: str
    created_by: str
    comment: str


@dataclass(frozen=True, slots=True)
class Messages:
    """How many messages of each integration were tried to the end, and how many of these tries failed."""

    tried: Mapping[str, int]
    failed: Mapping[str, int]


class AlertmanagerReader:
    """Reads one Alertmanager (API v2); every question may raise BackendError."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url

    def version(self) -> str:
        """Return its version as it says it."""
        status = self._json("/api/v2/status")
        return str(status.get("versionInfo", {}).get("version", "")) if isinstance(status, dict) else ""

    def configuration(self) -> str:
        """Return the configuration in force, in YAML, secrets masked by Alertmanager itself."""
        status = self._json("/api/v2/status")
        return str(status.get("config", {}).get("original", "")) if isinstance(status, dict) else ""

    def receivers(self) -> tuple[str, ...]:
        """Return the names of all receivers."""
        return tuple(str(each.get("name", "")) for each in self._list("/api/v2/receivers"))

    def alerts(self) -> tuple[ActiveAlert, ...]:
        """Return all alerts that are on, the muted ones too."""
        return tuple(_alert(each) for each in self._list("/api/v2/alerts"))

    def silences(self) -> tuple[Silence, ...]:
        """Return the silences that are in force or will be."""
        found = tuple(_silence(each) for each in self._list("/api/v2/silences"))
        return tuple(silence for silence in found if silence.state != "expired")

    def messages(self) -> Messages:
        """Return how many messages went out since it started, by integration."""
        tried: dict[str, int] = {}
        failed: dict[str, int] = {}
        for line in get(PROGRAM, self.base_url, "/metrics").content.splitlines():
            counts = (
                tried if line.startswith(_TRIED.encode()) else failed if line.startswith(_REFUSED.encode()) else None
            )
            if counts is None:
                continue
            try:
                sample = read_sample(line)
            except LineError:
                continue
            integration = dict(sample.labels).get("integration", "")
            counts[integration] = counts.get(integration, 0) + int(float(sample.value))
        return Messages(tried, failed)

    def _json(self, path: str) -> Any:
        return get_json(PROGRAM, self.base_url, path)

    def _list(self, path: str) -> list[dict[str, Any]]:
        found = self._json(path)
        return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _alert(raw: Mapping[str, Any]) -> ActiveAlert:
    status = raw.get("status", {})
    return ActiveAlert(
        labels={str(name): str(value) for name, value in raw.get("labels", {}).items()},
        annotations={str(name): str(value) for name, value in raw.get("annotations", {}).items()},
        state=str(status.get("state", "")),
        starts_at=str(raw.get("startsAt", "")),
        silenced_by=tuple(map(str, status.get("silencedBy") or ())),
        inhibited_by=tuple(map(str, status.get("inhibitedBy") or ())),
    )


def _silence(raw: Mapping[str, Any]) -> Silence:
    return Silence(
        id=str(raw.get("id", "")),
        state=str(raw.get("status", {}).get("state", "")),
        matchers=tuple(_matcher(each) for each in raw.get("matchers", ())),
        ends_at=str(raw.get("endsAt", "")),
        created_by=str(raw.get("createdBy", "")),
        comment=str(raw.get("comment", "")),
    )


def _matcher(raw: Mapping[str, Any]) -> str:
    equal, pattern = raw.get("isEqual", True), raw.get("isRegex", False)
    sign = ("=~" if equal else "!~") if pattern else ("=" if equal else "!=")
    return f'{raw.get("name", "")}{sign}"{raw.get("value", "")}"'
