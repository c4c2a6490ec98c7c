"""From a table of processes to the vLLM servers in it: which processes belong to which server; pure."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from vllmwatch.sources.processes.roles import Role, role_of, server_arguments
from vllmwatch.sources.processes.table import Process

_SERVING = frozenset({Role.SERVER, Role.API_SERVER})


@dataclass(frozen=True, slots=True)
class ServerTree:
    """One vLLM server: its root process, all processes below it with their roles, root first.

    `arguments` are those of the API server; None where the root has put a title in their place.
    """

    root: Process
    members: tuple[tuple[Process, Role | None], ...]
    arguments: tuple[str, ...] | None

    def pids(self, *roles: Role | None) -> tuple[int, ...]:
        """Return the pids of the members with one of these roles (all members when none is given)."""
        return tuple(process.pid for process, role in self.members if not roles or role in roles)


@dataclass(frozen=True, slots=True)
class PublishedPort:
    """A port of a container that docker-proxy publishes on the host."""

    host: str
    port: int
    container_host: str
    container_port: int


def find_servers(processes: Iterable[Process]) -> tuple[ServerTree, ...]:
    """Group processes by the server that they belong to, in the order of the roots' pids.

    A root is an API server's process with no such process above it. Engines and workers without a root above them
    (their server was killed, or they belong to Ray or a program of the user's) are no servers.
    """
    table = {process.pid: process for process in processes}
    roles = {pid: role_of(process.arguments) for pid, process in table.items()}
    serving = {pid for pid, role in roles.items() if role in _SERVING}
    roots = [pid for pid in sorted(serving) if not any(above in serving for above in ancestors(pid, table))]
    below: dict[int, list[int]] = {pid: [] for pid in roots}
    for pid in sorted(table):
        root = next((above for above in (pid, *ancestors(pid, table)) if above in below), None)
        if root is not None:
            below[root].append(pid)
    return tuple(_tree(table[root], [table[pid] for pid in below[root]], roles) for root in roots)


def _tree(root: Process, members: list[Process], roles: Mapping[int, Role | None]) -> ServerTree:
    ordered = sorted(members, key=lambda process: (process.pid != root.pid, process.pid))
    return ServerTree(
        root,
        tuple((process, roles[process.pid]) for process in ordered),
        server_arguments(root.arguments),
    )


def ancestors(pid: int, table: Mapping[int, Process]) -> Iterable[int]:
    """Yield the pids above a process, its parent first."""
    seen = {pid}
    while pid in table and (parent := table[pid].parent_pid) not in seen and parent in table:
        # A parent that is younger than its child has taken over the pid of the real one.
        if table[parent].create_time_seconds > table[pid].create_time_seconds:
            return
        seen.add(parent)
        yield parent
        pid = parent


def published_ports(processes: Iterable[Process]) -> tuple[PublishedPort, ...]:
    """Return the TCP ports that docker-proxy processes publish, from their command lines."""
    found = []
    for process in processes:
        if not process.arguments or PurePath(process.arguments[0]).name != "docker-proxy":
            continue
        flags = dict(re.findall(r"--?([a-z-]+)[ =](\S+)", " ".join(process.arguments[1:])))
        try:
            if flags.get("proto") == "tcp":
                found.append(
                    PublishedPort(
                        flags.get("host-ip", "0.0.0.0"),
                        int(flags["host-port"]),
                        flags["container-ip"],
                        int(flags["container-port"]),
                    )
                )
        except (KeyError, ValueError):
            continue
    return tuple(found)
