"""What a user tells Alertmanager: an alert to try the way, a silence, the end of one."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from vllmwatch.errors import VllmwatchError

_TIMEOUT_SECONDS = 10.0
_HINT = "Is Alertmanager there? The setting alertmanager_url says where it is asked."


@dataclass(frozen=True, slots=True)
class Matcher:
    """What a silence matches: a label with a value, or with a pattern."""

    name: str
    value: str
    is_pattern: bool = False
    is_equal: bool = True


def send_alert(base_url: str, labels: Mapping[str, str], annotations: Mapping[str, str], lasts: dt.timedelta) -> None:
    """Send one alert that is over after a time; raises VllmwatchError where it is not taken."""
    now = dt.datetime.now(dt.UTC)
    alert = {
        "labels": dict(labels),
        "annotations": dict(annotations),
        "startsAt": now.isoformat(),
        "endsAt": (now + lasts).isoformat(),
    }
    _send("POST", f"{base_url.rstrip('/')}/api/v2/alerts", [alert])


def silence(base_url: str, matchers: Sequence[Matcher], lasts: dt.timedelta, created_by: str, comment: str) -> str:
    """Silence what all matchers match, and return the silence's id; raises VllmwatchError where it is not taken."""
    now = dt.datetime.now(dt.UTC)
    body = {
        "matchers": [
            {"name": each.name, "value": each.value, "isRegex": each.is_pattern, "isEqual": each.is_equal}
            for each in matchers
        ],
        "startsAt": now.isoformat(),
        "endsAt": (now + lasts).isoformat(),
        "createdBy": created_by,
        "comment": comment,
    }
    answer = _send("POST", f"{base_url.rstrip('/')}/api/v2/silences", body)
    return str(answer.json().get("silenceID", ""))


def expire(base_url: str, silence_id: str) -> None:
    """End a silence; raises VllmwatchError where there is none of this id."""
    _send("DELETE", f"{base_url.rstrip('/')}/api/v2/silence/{silence_id}", None)


def _send(method: str, url: str, body: Any) -> requests.Response:
    try:
        answer = requests.request(method, url, json=body, timeout=_TIMEOUT_SECONDS)
    except requests.RequestException as error:
        raise VllmwatchError(f"{url}: Alertmanager cannot be reached ({type(error).__name__})", hint=_HINT) from None
    if not answer.ok:
        said = answer.text.strip().strip('"')[:200]
        raise VllmwatchError(f"{url}: Alertmanager refuses: {answer.status_code} {said}", hint=_HINT)
    return answer
