"""What Alertmanager knows: alerts with their state, silences, receivers, and how many messages went out."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.backends.active import ActiveAlert
from vllmwatch.sources.backends.answer import BackendError, get, get_json, mapping, sequence, stranger, text
from vllmwatch.sources.vllm.text import LineError, read_sample

PROGRAM = "Alertmanager"
# It has the receivers and the templates that our configuration is written in.
OLDEST = (0, 28)
_VERSION = re.compile(r"v?(\d+)\.(\d+)")
# Counted when an answer, or none, has come; alertmanager_notifications_total counts what is begun.
_TRIED = "alertmanager_notification_requests_total"
_REFUSED = "alertmanager_notification_requests_failed_total"


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
        return text(mapping(self._status(), "versionInfo"), "version")

    def require_supported(self) -> None:
        """Raise BackendError where it is older than our configuration can be loaded by."""
        version = self.version()
        match = _VERSION.match(version)
        if match is not None and (int(match[1]), int(match[2])) < OLDEST:
            needed = ".".join(map(str, OLDEST))
            raise BackendError(
                f"{mask_secrets(self.base_url)}: Alertmanager {version} is too old: {needed} or newer is asked for",
                hint="The configuration that `vllmwatch rules` writes is not taken by it. Install a newer one.",
            )

    def configuration(self) -> str:
        """Return the configuration in force, in YAML, secrets masked by Alertmanager itself."""
        return text(mapping(self._status(), "config"), "original")

    def receivers(self) -> tuple[str, ...]:
        """Return the names of all receivers."""
        return tuple(text(each, "name") for each in self._list("/api/v2/receivers"))

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
            integration, count = dict(sample.labels).get("integration", ""), float(sample.value)
            if math.isfinite(count):
                counts[integration] = counts.get(integration, 0) + int(count)
        return Messages(tried, failed)

    def _status(self) -> Mapping[str, Any]:
        found = get_json(PROGRAM, self.base_url, "/api/v2/status")
        if not isinstance(found, dict):
            raise stranger(PROGRAM, f"{self.base_url}/api/v2/status", "its status is no mapping")
        return found

    def _list(self, path: str) -> list[dict[str, Any]]:
        found = get_json(PROGRAM, self.base_url, path)
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise stranger(PROGRAM, f"{self.base_url}{path}", "this is no list of mappings")
        return found


def _alert(raw: Mapping[str, Any]) -> ActiveAlert:
    status = mapping(raw, "status")
    return ActiveAlert(
        labels={str(name): str(value) for name, value in mapping(raw, "labels").items()},
        annotations={str(name): str(value) for name, value in mapping(raw, "annotations").items()},
        state=text(status, "state"),
        starts_at=text(raw, "startsAt"),
        silenced_by=tuple(map(str, sequence(status, "silencedBy"))),
        inhibited_by=tuple(map(str, sequence(status, "inhibitedBy"))),
        receivers=tuple(text(each, "name") for each in sequence(raw, "receivers") if isinstance(each, dict)),
    )


def _silence(raw: Mapping[str, Any]) -> Silence:
    return Silence(
        id=text(raw, "id"),
        state=text(mapping(raw, "status"), "state"),
        matchers=tuple(_matcher(each) for each in sequence(raw, "matchers") if isinstance(each, dict)),
        ends_at=text(raw, "endsAt"),
        created_by=text(raw, "createdBy"),
        comment=text(raw, "comment"),
    )


def _matcher(raw: Mapping[str, Any]) -> str:
    equal, pattern = raw.get("isEqual", True), raw.get("isRegex", False)
    sign = ("=~" if equal else "!~") if pattern else ("=" if equal else "!=")
    return f'{raw.get("name", "")}{sign}"{raw.get("value", "")}"'
