"""The targets in the form of Prometheus' HTTP service discovery, for those who scrape vLLM directly."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from vllmwatch.exporter.watch import TargetSample
from vllmwatch.spec.reason import Reason


def http_sd(samples: Iterable[TargetSample]) -> list[dict[str, object]]:
    """Return one group a target that is still discovered; secrets, and queries that may hold one, are not part of it.

    Addresses on loopback are as the exporter sees them: they are of use to a Prometheus on the same host alone.
    Form: https://prometheus.io/docs/prometheus/latest/http_sd/
    """
    return [_group(sample) for sample in samples if sample.reason is not Reason.GONE]


def _group(sample: TargetSample) -> dict[str, object]:
    target = sample.target
    parts = urlsplit(target.url)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    labels = {
        **target.labels,
        "__scheme__": parts.scheme,
        "__metrics_path__": parts.path or "/",
        "server": target.server,
        "node": target.node,
    }
    return {"targets": [f"{host}:{port}"], "labels": labels}
