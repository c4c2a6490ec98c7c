"""One question to a program that speaks HTTP and JSON; whatever goes wrong is one clear line."""

from collections.abc import Mapping, Sequence
from typing import Any

import requests

from vllmwatch.errors import VllmwatchError
from vllmwatch.sources.address import mask_secrets

TIMEOUT_SECONDS = 10.0


class BackendError(VllmwatchError):
    """A program that does not answer, or not as it should."""


def get_json(program: str, base_url: str, path: str, parameters: dict[str, str] | None = None) -> Any:
    """Return the JSON at an address; raises BackendError, which names the program and the address."""
    response = get(program, base_url, path, parameters)
    try:
        return response.json()
    except ValueError:
        raise stranger(program, response.url, "no JSON") from None


def get(program: str, base_url: str, path: str, parameters: dict[str, str] | None = None) -> requests.Response:
    """Return the answer at an address; raises BackendError where there is none, or one that says no."""
    url = f"{base_url.rstrip('/')}{path}"
    try:
        response = requests.get(url, params=parameters, timeout=TIMEOUT_SECONDS)
    except (requests.RequestException, ValueError) as error:
        raise unreachable(program, url, error) from None
    if not response.ok:
        raise BackendError(
            f"{mask_secrets(url)}: {program} answers {response.status_code} {response.reason}", hint=hint(program)
        )
    return response


def unreachable(program: str, url: str, error: Exception) -> BackendError:
    """Return the fault of a program that cannot be asked; ValueError is what urllib3 says of a host's name."""
    if isinstance(error, requests.Timeout):
        what = f"{program} does not answer within {TIMEOUT_SECONDS:g} s"
    elif isinstance(error, requests.exceptions.SSLError):
        what = f"the certificate of {program} is not trusted"
    elif isinstance(error, requests.ConnectionError):
        what = f"{program} cannot be reached"
    else:
        what = f"{program} cannot be asked: {type(error).__name__}"
    return BackendError(f"{mask_secrets(url)}: {what}", hint=hint(program))


def stranger(program: str, url: str, what: str) -> BackendError:
    """Return the fault of a program that answers as another would."""
    return BackendError(f"{mask_secrets(url)}: this is not {program}: {what}", hint=hint(program))


def hint(program: str) -> str:
    """Return what to do about a program that does not answer."""
    return f"Is {program} there? The setting {program.lower()}_url says where it is asked."


def mapping(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key; empty where there is none."""
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def sequence(raw: Mapping[str, Any], key: str) -> Sequence[Any]:
    """Return the list under a key; empty where there is none."""
    value = raw.get(key)
    return value if isinstance(value, list) else ()


def text(raw: Mapping[str, Any], key: str) -> str:
    """Return the text under a key; empty where there is none."""
    return str(raw.get(key) or "")
