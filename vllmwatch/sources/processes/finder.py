"""Finds the vLLM servers on this host: reads processes and sockets, and asks the pure parts what they mean."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import yaml

from vllmwatch.sources.processes.environment import VisibleDevices, visible_devices
from vllmwatch.sources.processes.flags import ServerFlags, read_flags
from vllmwatch.sources.processes.locate import SERVING_ROLES, Sight, Unreachable, locate
from vllmwatch.sources.processes.parts import Part, parts_of
from vllmwatch.sources.processes.servers import PublishedPort, ServerTree, find_servers, published_ports
from vllmwatch.sources.processes.sockets import Namespace, SocketReader
from vllmwatch.sources.processes.table import Process, ProcessTable
from vllmwatch.sources.target import Target


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server on this host: its processes, its targets (none where it has no metrics page), and how it was started.

    `flags` is None where its title has replaced its command line, `devices` where its environment is not ours to see.
    """

    tree: ServerTree
    targets: tuple[Target, ...]
    flags: ServerFlags | None = None
    devices: VisibleDevices | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The servers on this host, what kept some from being targets (a line each), and all processes of vLLM's by pid."""

    servers: tuple[FoundServer, ...]
    problems: tuple[str, ...]
    parts: Mapping[int, Part] = field(default_factory=dict)


class ServerFinder:
    """Looks at this host, named `node`; each look costs one pass over the processes."""

    def __init__(self, node: str, table: ProcessTable | None = None, sockets: SocketReader | None = None) -> None:
        self._node = node
        self._table = table or ProcessTable()
        self._sockets = sockets or SocketReader()
        self._listened: set[tuple[Process, str]] = set()

    def find(self) -> Found:
        """Return the servers that are there now."""
        processes = self._table.read()
        trees = find_servers(processes)
        parts = parts_of(processes, trees)
        if not trees:
            return Found((), (), parts)
        published = self._published(processes)
        networks: dict[int, Namespace | None] = {}
        servers, problems = [], []
        for tree in trees:
            flags = self._flags(tree)
            try:
                targets = locate(tree, flags, self._look(tree, networks), published, self._node)
            except Unreachable as finding:
                targets = ()
                problems.append(str(finding))
            targets = tuple(self._unless_stopping(tree, target) for target in targets)
            servers.append(FoundServer(tree, targets, flags, visible_devices(tree.root.pid)))
        self._listened = {
            (server.tree.root, target.url) for server in servers for target in server.targets if not target.loading
        }
        return Found(tuple(servers), tuple(problems), parts)

    def _unless_stopping(self, tree: ServerTree, target: Target) -> Target:
        """Return the target; one that has listened before does not load, it stops."""
        return replace(target, loading=False) if (tree.root, target.url) in self._listened else target

    def _published(self, processes: tuple[Process, ...]) -> tuple[PublishedPort, ...]:
        """Return the published ports that lead somewhere from where we are."""
        return published_ports(entry for entry in processes if _is_proxy(entry) and self._shares(entry))

    def _shares(self, process: Process) -> bool:
        return self._sockets.shares_our_network(process.pid)

    def _look(self, tree: ServerTree, networks: dict[int, Namespace | None]) -> Sight:
        """Return what is to be seen of a server; `networks` keeps each namespace, to be read once in a round."""
        identity = self._sockets.network_of(tree.root.pid)
        if identity is None or identity not in networks:
            namespace = self._sockets.namespace_of(tree.root.pid)
        else:
            namespace = networks[identity]
        if identity is not None:
            networks[identity] = namespace
        inodes: set[int] = set()
        for pid in tree.pids(*SERVING_ROLES):
            held = self._sockets.inodes_of(pid)
            if held is None and pid == tree.root.pid:
                return Sight(namespace, None)
            inodes |= held or set()
        return Sight(namespace, frozenset(inodes))

    def _flags(self, tree: ServerTree) -> ServerFlags | None:
        if tree.arguments is None:
            return None
        flags = read_flags(tree.arguments)
        if flags.config_file is None:
            return flags
        text = self._sockets.read_in(tree.root.pid, flags.config_file)
        return flags if text is None else read_flags(tree.arguments, flag_file(text))


def flag_file(text: str) -> dict[str, str]:
    """Return the flags in the text of a file for vLLM's --config; a switch that is off is left out."""
    try:
        parsed = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        # PyYAML raises more than its own errors for values that do not fit their tags.
        return {}
    pairs = parsed.items() if isinstance(parsed, dict) else ()
    return {str(key).replace("_", "-"): str(value) for key, value in pairs if value is not None and value is not False}


def _is_proxy(process: Process) -> bool:
    return bool(process.arguments) and process.arguments[0].endswith("docker-proxy")
