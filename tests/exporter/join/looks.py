"""One look at a host for the join, typed as tables: GPUs with their processes, rows of processes, and targets."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from tests.sources.processes.tables import Row, processes
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.join.watch import join
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.nvml.snapshot import (
    GpuIdentity,
    GpuProcess,
    GpuReadings,
    GpuSnapshot,
    Memory,
    MigInstance,
    NvLinks,
    NvmlSnapshot,
)
from vllmwatch.sources.processes import Found, FoundServer
from vllmwatch.sources.processes.environment import VisibleDevices
from vllmwatch.sources.processes.flags import read_flags
from vllmwatch.sources.processes.parts import parts_of
from vllmwatch.sources.processes.pids import ResolvedPids
from vllmwatch.sources.processes.servers import ServerTree, find_servers
from vllmwatch.sources.target import Origin, ServerGpus, Target
from vllmwatch.spec.reason import Reason

GIB = 2**30
# The order of the bus is not NVML's here: GPU-A is the first of NVML's and the last on the bus.
PLACES = {"GPU-A": "00000000:C1:00.0", "GPU-B": "00000000:18:00.0", "GPU-C": "00000000:29:00.0"}


def process(
    pid: int, memory: int | None = GIB, gpu_instance: int | None = None, compute_instance: int | None = None
) -> GpuProcess:
    return GpuProcess(
        pid, memory, compute=True, graphics=False, gpu_instance=gpu_instance, compute_instance=compute_instance
    )


def readings(
    listed: Sequence[GpuProcess] | None, *, used: int | None = 0, utilization: float | None = None
) -> GpuReadings:
    """Return readings of which the join needs three, and which say nothing else."""
    known: dict[str, Any] = {
        field.name: {} if str(field.type).startswith("collections.abc.Mapping") else None
        for field in fields(GpuReadings)
    }
    known["nvlinks"] = NvLinks(**{field.name: {} for field in fields(NvLinks)})
    memory = None if used is None else Memory(80 * GIB, used, 80 * GIB - used, None)
    given = None if listed is None else tuple(listed)
    return GpuReadings(**known | {"processes": given, "memory": memory, "utilization_ratio": utilization})


def gpu(
    index: int,
    listed: Sequence[GpuProcess] | None = (),
    *,
    uuid: str = "",
    name: str = "NVIDIA H100 80GB HBM3",
    used: int | None = 0,
    utilization: float | None = None,
    instances: Sequence[MigInstance] = (),
) -> GpuSnapshot:
    """Return a GPU; the first three are GPU-A, GPU-B and GPU-C, whose places on the bus are in PLACES."""
    uuid = uuid or f"GPU-{chr(ord('A') + index)}"
    identity = GpuIdentity(uuid, index, name=name, pci_bus_id=PLACES.get(uuid, f"00000000:{0x40 + index:02X}:00.0"))
    its = readings(listed, used=used, utilization=utilization)
    return GpuSnapshot(identity, up=True, readings=its, mig_instances=tuple(instances))


def lost(snapshot: GpuSnapshot) -> GpuSnapshot:
    return replace(snapshot, up=False, readings=None, facts=None, mig_instances=())


def instance(
    uuid: str, gpu_instance: int, compute_instance: int, listed: Sequence[GpuProcess] | None = ()
) -> MigInstance:
    memory = Memory(40 * GIB, 30 * GIB, 10 * GIB, None)
    given = None if listed is None else tuple(listed)
    return MigInstance(uuid, gpu_instance, compute_instance, "3g.40gb", memory, None, given)


def nvml(*gpus: GpuSnapshot) -> NvmlSnapshot:
    return NvmlSnapshot(True, None, gpus, 0, "580.95.05", "13.0", 0.01)


def target(port: int, pid: int | None = None, *, server: str = "") -> Target:
    return Target(f"http://127.0.0.1:{port}/metrics", server or f"box:{port}", "box", Origin.PROCESS, pid=pid)


def sample(target: Target, *engines: str, reason: Reason | None = None) -> TargetSample:
    return TargetSample(target, Facts(engines=engines), None, reason, "", None)


def found(
    rows: Sequence[Row],
    targets: Mapping[int, Sequence[Target]] | None = None,
    devices: Mapping[int, VisibleDevices | None] | None = None,
) -> Found:
    """Return what a look at these processes finds; targets and environments by the pid of a server's root."""
    table = processes(tuple(rows))
    trees = find_servers(table)

    def server(tree: ServerTree) -> FoundServer:
        flags = read_flags(tree.arguments) if tree.arguments is not None else None
        pid = tree.root.pid
        return FoundServer(tree, tuple((targets or {}).get(pid, ())), flags, (devices or {}).get(pid))

    return Found(tuple(map(server, trees)), (), parts_of(table, trees))


class Pids:
    """Resolves numbers without a look: those of `here` are themselves, created as tables.py has it."""

    def __init__(self, here: Sequence[int] = (), dead: Sequence[int] = (), *, own_namespace: bool = False) -> None:
        self.resolved = ResolvedPids({pid: float(pid) for pid in here}, frozenset(dead), own_namespace=own_namespace)
        self.asked = 0

    def resolve(self, numbers: frozenset[int], known: Mapping[int, float]) -> ResolvedPids:
        self.asked += 1
        return self.resolved


def joined(
    snapshot: NvmlSnapshot,
    host: Found,
    samples: Sequence[TargetSample],
    *,
    mappings: Sequence[ServerGpus] = (),
    pids: Pids | None = None,
) -> Joined:
    """Join a look at the host, all of whose processes can be seen unless `pids` says otherwise."""
    others = range(900, 1000)
    return join(snapshot, host, samples, mappings, pids or Pids((*host.parts, *others)))


def links(joined: Joined) -> list[tuple[str, str, str, str]]:
    """Return server, engine, rank and device of each link."""
    return [(link.server, link.engine, link.rank, link.device.uuid) for link in joined.links]


def reasons(joined: Joined) -> dict[str, set[str]]:
    return {uuid: set(map(str, found)) for uuid, found in joined.unmapped.items()}
