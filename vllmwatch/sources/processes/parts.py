"""The place of each of vLLM's processes: whose it is, of which engine, and with which rank; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from vllmwatch.sources.processes.roles import Role, is_python, role_of, title_ranks
from vllmwatch.sources.processes.servers import ServerTree, ancestors
from vllmwatch.sources.processes.table import Process

# Parts that can be on a GPU without an API server above them.
_LONE_ROLES = frozenset({Role.ENGINE, Role.WORKER, Role.RAY})
_ONLY_WORKER = "TP0"


class Lone(StrEnum):
    """Whose a part without a server is: Ray's, a program's that runs an engine by itself, or nobody's any more."""

    RAY = "ray"
    PROGRAM = "program"
    ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Part:
    """One process of vLLM's.

    `root_pid` is its server's; where there is no server above it, that is None and `lone` says whose it is.
    `data_parallel_rank` is its engine's, None where no title names one; `rank` its own within the engine (TP0,
    PP1_TP0), empty where that is not known.
    """

    process: Process
    role: Role | None
    root_pid: int | None
    data_parallel_rank: int | None
    rank: str
    lone: Lone | None = None


def parts_of(processes: Iterable[Process], trees: Iterable[ServerTree]) -> dict[int, Part]:
    """Return vLLM's processes by pid: all members of servers, and engines and workers that have none."""
    table = {process.pid: process for process in processes}
    found: dict[int, Part] = {}
    for tree in trees:
        for process, role in tree.members:
            found[process.pid] = _part(process, role, tree.root.pid, table)
    for process in table.values():
        role = role_of(process.arguments)
        if process.pid not in found and role in _LONE_ROLES:
            found[process.pid] = _part(process, role, None, table)
    return _with_only_workers(found, table)


def _part(process: Process, role: Role | None, root_pid: int | None, table: Mapping[int, Process]) -> Part:
    line = [process, *(table[pid] for pid in ancestors(process.pid, table))]
    ranks = [title_ranks(entry.arguments) for entry in line]
    data_parallel = next((entry.data_parallel for entry in ranks if entry.data_parallel is not None), None)
    lone = _lone(line) if root_pid is None else None
    return Part(process, role, root_pid, data_parallel, ranks[0].worker, lone)


def _lone(line: Iterable[Process]) -> Lone:
    """Tell whose a part is by the line of its ancestors, itself first."""
    roles = [(role_of(entry.arguments), entry) for entry in line]
    if any(role is Role.RAY for role, _ in roles):
        return Lone.RAY
    above = next((entry for role, entry in roles if role not in _LONE_ROLES), None)
    # The system gives an orphan to init, or to what stands for it in a container or a session; none of these is Python.
    return Lone.PROGRAM if above is not None and is_python(above.arguments) else Lone.ORPHAN


def _with_only_workers(parts: Mapping[int, Part], table: Mapping[int, Process]) -> dict[int, Part]:
    """Give the one worker of an engine its rank, which its title leaves out; an engine without workers is its own."""
    workers: dict[int, list[int]] = {pid: [] for pid, part in parts.items() if part.role is Role.ENGINE}
    for pid, part in parts.items():
        engine = next((above for above in ancestors(pid, table) if above in workers), None)
        if part.role is Role.WORKER and engine is not None:
            workers[engine].append(pid)
    alone = {(below or [engine])[0] for engine, below in workers.items() if len(below) <= 1}
    return {pid: replace(part, rank=part.rank or _ONLY_WORKER) if pid in alone else part for pid, part in parts.items()}
