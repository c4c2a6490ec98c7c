"""The few HTTP questions that `vllmwatch up` puts to its own children."""

import http.client
import json
import socket
import urllib.error
import urllib.request
from typing import Any

from vllmwatch.stack.address import Address

# No proxy stands between this machine and its own children.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
_FAULTS = (urllib.error.URLError, http.client.HTTPException, OSError, ValueError)


def is_ok(url: str, timeout_seconds: float = 2.0) -> bool:
    """Tell whether a URL answers 200."""
    try:
        with _OPENER.open(url, timeout=timeout_seconds) as answer:
            return bool(answer.status == http.HTTPStatus.OK)
    except _FAULTS:
        return False


def read_json(url: str, timeout_seconds: float = 10.0) -> Any:
    """Return the JSON that a URL answers with, or None where it gives none."""
    try:
        with _OPENER.open(url, timeout=timeout_seconds) as answer:
            return json.load(answer)
    except _FAULTS:
        return None


def is_free(address: Address) -> bool:
    """Tell whether this process could listen on an address now."""
    try:
        family, kind, _, _, where = socket.getaddrinfo(
            address.host or "0.0.0.0", address.port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(where)
    except OSError:
        return False
    return True
