"""What `vllmwatch up` tells of the fleet that the exporter found: the answer of /api/v1/fleet as lines; pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NOTHING_FOUND = (
    "Neither a GPU nor a vLLM server was found on this host. The stack runs on and shows them as they come.",
    "Start a server (vllm serve MODEL). For one that is elsewhere, stop this (Ctrl-C) and name it:",
    "  `vllmwatch up --target http://HOST:8000`",
)
NO_ANSWER = "The exporter does not say what it found; its log tells why."
_SHOWN = 16


def summary(fleet: Any) -> list[str]:
    """Return the lines that tell which GPUs and servers there are, and what to do where there are none."""
    if not isinstance(fleet, Mapping):
        return [NO_ANSWER]
    gpus = _items(fleet, "gpus")
    servers = _items(fleet, "servers")
    lines = [*_gpu_lines(gpus, fleet.get("nvml")), *_server_lines(servers)]
    if not gpus and not servers:
        lines += NOTHING_FOUND
    return lines


def _items(fleet: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    found = fleet.get(key)
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _gpu_lines(gpus: Sequence[Mapping[str, Any]], nvml: Any) -> Iterator[str]:
    if not gpus:
        reason = nvml.get("reason") if isinstance(nvml, Mapping) else None
        yield f"GPUs: none ({reason})" if reason else "GPUs: none"
        return
    yield f"GPUs: {len(gpus)}"
    for gpu in gpus[:_SHOWN]:
        state = "" if gpu.get("up", True) else ", LOST"
        yield f"  {gpu.get('index', '?')}  {gpu.get('name', 'unknown')}  {gpu.get('uuid', '')}{state}"
    yield from _more(len(gpus))


def _server_lines(servers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if not servers:
        yield "vLLM servers: none"
        return
    up = sum(1 for server in servers if server.get("up"))
    yield f"vLLM servers: {len(servers)} ({up} up)"
    for server in servers[:_SHOWN]:
        facts = [server.get("model_name"), f"vLLM {server['version']}" if server.get("version") else None]
        about = ", ".join(str(fact) for fact in facts if fact)
        state = "up" if server.get("up") else f"not up: {server.get('reason') or 'unknown'}"
        yield "  " + "  ".join(part for part in (str(server.get("server", "?")), state, about) if part)
    yield from _more(len(servers))


def _more(count: int) -> Iterator[str]:
    if count > _SHOWN:
        yield f"  and {count - _SHOWN} more"
