"""The targets in the form of Prometheus' HTTP service discovery, for those who scrape vLLM directly."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.address import is_loopback, join_host_port, parse_address
from vllmwatch.spec.reason import Reason

# A Host header (RFC 9110, 7.2) has a host, and a port where it is not the scheme's own; nothing else.
_HOST_HEADER = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d+)?", re.ASCII)


def http_sd(samples: Iterable[TargetSample], host_header: str | None) -> list[dict[str, object]]:
    """Return one group a target that is still discovered; secrets, and queries that may hold one, are not part of it.

    Where the exporter reaches a target on loopback, the asker gets the host by which it reached the exporter
    (`host_header`) in its place: loopback is another host there.
    Form: https://prometheus.io/docs/prometheus/latest/http_sd/
    """
    asked = _asked_host(host_header)
    return [_group(sample, asked) for sample in samples if sample.reason is not Reason.GONE]


def _asked_host(header: str | None) -> str | None:
    """Return the host of a Host header, or None where it is no host."""
    if header is None or not _HOST_HEADER.fullmatch(header):
        return None
    try:
        return parse_address(header).host
    except ValueError:
        return None


def _group(sample: TargetSample, asked_host: str | None) -> dict[str, object]:
    target = sample.target
    parts = urlsplit(target.url)
    host = parts.hostname or ""
    if asked_host is not None and is_loopback(host) and not is_loopback(asked_host):
        host = asked_host
    port = parts.port or (443 if parts.scheme == "https" else 80)
    labels = {
        **target.labels,
        "__scheme__": parts.scheme,
        "__metrics_path__": parts.path or "/",
        "server": target.server,
        "node": target.node,
    }
    return {"targets": [join_host_port(host, port)], "labels": labels}
