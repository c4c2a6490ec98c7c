"""Where lines come from: containers of Docker, units and the kernel by the journal, files. Each has node and server."""

import re
from collections.abc import Iterator

from vllmwatch.render.alloy.syntax import Attribute, Block, Comment, Expression, Value, block
from vllmwatch.render.log_settings import LogSettings

SERVERS = Expression("loki.process.servers.receiver")
KERNEL = Expression("loki.process.kernel.receiver")
NODE = Expression('coalesce(sys.env("VLLMWATCH_NODE"), constants.hostname)')
_DOCKER = Expression('coalesce(sys.env("DOCKER_HOST"), "unix:///var/run/docker.sock")')
_META = "__meta_docker_container"
_LABEL = f"{_META}_label"
_COMPOSE_SERVICE = f"{_LABEL}_com_docker_compose_service"
# One that says so itself, or whose service or name has vLLM in it as a word, and does not say that it is none.
_OF_VLLM = "true;.*|;(?:.*[^a-z])?vllm(?:[^a-z].*)?"
# Where a container that has ended tells no port, it is vLLM's own.
_USUAL_PORT = 8000
_EVERY_STATE = ("running", "restarting", "paused", "exited", "dead")
# Of the kernel's words for how grave a line is, those that are others in the logs of servers.
_KERNEL_LEVELS = {"emerg|alert|crit": "critical", "notice": "info"}


def containers() -> Iterator[Block | Comment]:
    """Yield what reads the logs of Docker's containers, those that have ended too: their last lines tell of a crash."""
    yield Comment("The socket of Docker gives all power over the host: DOCKER_HOST may name a proxy that reads alone.")
    yield block(
        "discovery.docker",
        block("filter", name="status", values=list(_EVERY_STATE)),
        label="containers",
        host=_DOCKER,
        refresh_interval="5s",
    )
    yield Comment("Labels that a container has while it runs and afterwards: others would make it another one.")
    yield block(
        "discovery.relabel",
        *_rules_of_containers(),
        label="containers",
        targets=Expression("discovery.docker.containers.targets"),
    )
    yield block(
        "loki.relabel",
        _rule([f"{_META}_log_stream"], "stream"),
        label="stream",
        forward_to=[],
    )
    yield block(
        "loki.source.docker",
        label="containers",
        host=_DOCKER,
        targets=Expression("discovery.relabel.containers.output"),
        labels={"job": "vllm"},
        relabel_rules=Expression("loki.relabel.stream.rules"),
        forward_to=[SERVERS],
    )


def kernel() -> Iterator[Block | Comment]:
    """Yield what reads the kernel's lines from the journal."""
    levels = [
        _rule(["__journal_priority_keyword"], "level", regex=words, replacement=level)
        for words, level in _KERNEL_LEVELS.items()
    ]
    yield block("loki.relabel", _rule(["__journal_priority_keyword"], "level"), *levels, label="kernel", forward_to=[])
    yield block(
        "loki.source.journal",
        label="kernel",
        matches="_TRANSPORT=kernel",
        labels={"job": "kernel", "node": NODE},
        relabel_rules=Expression("loki.relabel.kernel.rules"),
        forward_to=[KERNEL],
    )


def units(settings: LogSettings) -> Iterator[Block | Comment]:
    """Yield what reads the logs of servers that systemd runs."""
    labels = _labels_of([server for server, _ in settings.units], "unit")
    for label, (server, unit) in zip(labels, settings.units, strict=True):
        full = unit if "." in unit else f"{unit}.service"
        yield block(
            "loki.source.journal",
            label=label,
            matches=f"_SYSTEMD_UNIT={full}",
            labels={"job": "vllm", "node": NODE, "server": server, "service": full},
            forward_to=[SERVERS],
        )


def files(settings: LogSettings) -> Iterator[Block | Comment]:
    """Yield what follows the files of servers."""
    if not settings.files:
        return
    targets: list[Value] = [{"__path__": path, "node": NODE, "server": server} for server, path in settings.files]
    yield block("local.file_match", label="servers", path_targets=targets)
    yield block(
        "loki.source.file",
        label="servers",
        targets=Expression("local.file_match.servers.targets"),
        forward_to=[SERVERS],
    )


def _rules_of_containers() -> Iterator[Block]:
    for name in (_COMPOSE_SERVICE, f"{_META}_name"):
        yield _rule([f"{_LABEL}_vllmwatch_logs", name], "__tmp_vllm", regex=_OF_VLLM, replacement="yes")
    yield _rule(["__tmp_vllm"], action="keep", regex="yes")
    yield _rule([f"{_META}_name"], "container", regex="/?(.*)")
    yield _rule(["container"], "service")
    yield _rule([_COMPOSE_SERVICE], "service", regex="(.+)")
    yield _rule(["service"], "server", replacement=f"${{1}}:{_USUAL_PORT}")
    yield _rule(["service", "__meta_docker_port_private"], "server", regex="(.+:[0-9]+)", separator=":")
    yield _rule([f"{_LABEL}_vllmwatch_server"], "server", regex="(.+)")
    yield block("rule", target_label="node", replacement=NODE)
    yield block("rule", action="labelkeep", regex=f"{_META}_id|container|node|server|service")


def _rule(sources: list[Value], target: str = "", **more: Value) -> Block:
    where: dict[str, Value] = {"target_label": target} if target else {}
    return Block("rule", "", tuple(Attribute(*pair) for pair in {"source_labels": sources, **where, **more}.items()))


def _labels_of(names: list[str], kind: str) -> list[str]:
    """Return a label of a block for each name, no two alike."""
    labels: list[str] = []
    for name in names:
        label = f"{kind}_{re.sub('[^A-Za-z0-9_]', '_', name)}"
        while label in labels:
            label += "_"
        labels.append(label)
    return labels
