"""What a user tells Alertmanager: an alert to try the way, a silence, the end of one."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import requests

from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.backends.alertmanager import PROGRAM
from vllmwatch.sources.backends.answer import TIMEOUT_SECONDS, BackendError, hint, stranger, unreachable


@dataclass(frozen=True, slots=True)
class Matcher:
    """What a silence matches: a label with a value, or with a pattern."""

    name: str
    value: str
    is_pattern: bool = False
    is_equal: bool = True


def send_alert(base_url: str, labels: Mapping[str, str], annotations: Mapping[str, str], lasts: dt.timedelta) -> None:
    """Send one alert that is over after a time; raises BackendError where it is not taken."""
    now = dt.datetime.now(dt.UTC)
    alert = {
        "labels": dict(labels),
        "annotations": dict(annotations),
        "startsAt": now.isoformat(),
        "endsAt": (now + lasts).isoformat(),
    }
    _send("POST", base_url, "/api/v2/alerts", [alert])


def silence(base_url: str, matchers: Sequence[Matcher], lasts: dt.timedelta, created_by: str, comment: str) -> str:
    """Silence what all matchers match, and return the silence's id; raises BackendError where it is not taken."""
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
    answer = _send("POST", base_url, "/api/v2/silences", body)
    try:
        found = answer.json()
    except ValueError:
        found = None
    if not isinstance(found, dict) or not found.get("silenceID"):
        raise stranger(PROGRAM, answer.url, "it tells no id of the silence")
    return str(found["silenceID"])


def expire(base_url: str, silence_id: str) -> None:
    """End a silence; raises BackendError where there is none of this id."""
    _send("DELETE", base_url, f"/api/v2/silence/{quote(silence_id, safe='')}", None)


def _send(method: str, base_url: str, path: str, body: object) -> requests.Response:
    url = f"{base_url.rstrip('/')}{path}"
    try:
        answer = requests.request(method, url, json=body, timeout=TIMEOUT_SECONDS)
    except (requests.RequestException, ValueError) as error:
        raise unreachable(PROGRAM, url, error) from None
    if not answer.ok:
        said = answer.text.strip().strip('"')[:200]
        raise BackendError(f"{mask_secrets(url)}: {PROGRAM} refuses: {answer.status_code} {said}", hint=hint(PROGRAM))
    return answer
