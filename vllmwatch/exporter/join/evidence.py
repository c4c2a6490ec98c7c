"""What the driver's lists of processes say of each GPU: whose they are, and what they cannot tell; pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from vllmwatch.exporter.join.links import Device, Link
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.nvml.snapshot import GpuProcess, GpuReadings, GpuSnapshot, NvmlSnapshot
from vllmwatch.sources.processes import Found, FoundServer
from vllmwatch.sources.processes.parts import Lone, Part
from vllmwatch.sources.processes.pids import ResolvedPids
from vllmwatch.sources.target import Target
from vllmwatch.spec.join import Holder, Unmapped
from vllmwatch.spec.reason import Reason

# The engine of a server without data parallelism, on vLLM's pages and on ours.
FIRST_ENGINE = "0"
# Less is what a driver and its contexts take on a GPU that nobody uses.
_IN_USE_BYTES = 1 << 30
_WITHOUT_SERVER = {Lone.RAY: Unmapped.RAY, Lone.PROGRAM: Unmapped.OFFLINE, Lone.ORPHAN: Unmapped.ORPHANED}


@dataclass(slots=True)
class Evidence:
    """What was found so far, in the form of `Joined`."""

    links: set[Link] = field(default_factory=set)
    held: dict[tuple[str, Holder, str], int] = field(default_factory=dict)
    unmapped: dict[str, set[Unmapped]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def miss(self, gpu_uuid: str, reason: Unmapped) -> None:
        """Note that a GPU is in use and why it is not known by whom."""
        self.unmapped.setdefault(gpu_uuid, set()).add(reason)


@dataclass(frozen=True, slots=True)
class _Owner:
    holder: Holder
    sample: TargetSample | None = None
    part: Part | None = None
    missed: Unmapped | None = None


class Owners:
    """Whose a process is, by the number that the driver gives it."""

    def __init__(self, host: Found | None, pids: ResolvedPids, samples: Sequence[TargetSample]) -> None:
        self._pids = pids
        self._parts = host.parts if host is not None else {}
        self._servers = {server.tree.root.pid: server for server in host.servers} if host is not None else {}
        self._samples: dict[int, list[TargetSample]] = {}
        for sample in samples:
            # The process of a server that is gone has ended, and its pid may be another's.
            if sample.target.pid is not None and sample.reason is not Reason.GONE:
                self._samples.setdefault(sample.target.pid, []).append(sample)

    def of(self, number: int) -> _Owner:
        """Return who a process on a GPU is."""
        if number in self._pids.dead:
            return _Owner(Holder.DEAD)
        created = self._pids.here.get(number)
        if created is None:
            return _Owner(Holder.UNSEEN, missed=Unmapped.PID_NAMESPACE if self._pids.own_namespace else Unmapped.HIDDEN)
        part = self._parts.get(number)
        if part is None or part.process.create_time_seconds != created:
            return _Owner(Holder.OTHER)
        if part.root_pid is None:
            return _Owner(Holder.OTHER, missed=_WITHOUT_SERVER[part.lone or Lone.ORPHAN])
        sample = self._sample_of(part, part.root_pid)
        if sample is not None:
            return _Owner(Holder.SERVER, sample, part)
        elsewhere = _is_headless(self._servers.get(part.root_pid))
        return _Owner(Holder.OTHER, missed=Unmapped.ELSEWHERE if elsewhere else Unmapped.NO_TARGET)

    def _sample_of(self, part: Part, root_pid: int) -> TargetSample | None:
        """Return the target of a part; where each rank has a page of its own, the one of this rank."""
        samples = self._samples.get(root_pid, [])
        server = self._servers.get(root_pid)
        pages = server.targets if server is not None else ()
        if len(pages) < 2:  # noqa: PLR2004  one page for the whole server, or none
            return samples[0] if samples else None
        rank = part.data_parallel_rank
        told = next((sample for sample in samples if str(rank) in sample.facts.engines), None)
        if told is not None or rank is None:
            return told
        # Before its first page, a target is known by its place alone.
        place = rank - min(self._ranks_of(root_pid))
        port = port_of(pages[place]) if place < len(pages) else None
        return next((one for one in samples if port_of(one.target) == port and not one.facts.engines), None)

    def _ranks_of(self, root_pid: int) -> Iterator[int]:
        for part in self._parts.values():
            if part.root_pid == root_pid and part.data_parallel_rank is not None:
                yield part.data_parallel_rank


def gather(snapshot: NvmlSnapshot, owners: Owners, pids: ResolvedPids) -> Evidence:
    """Return what the processes on all GPUs say."""
    evidence = Evidence()
    for gpu in snapshot.gpus:
        if gpu.readings is not None:
            _gather_one(evidence, gpu, gpu.readings, owners, pids)
    evidence.links = set(_without_vague(evidence.links))
    return evidence


def _gather_one(
    evidence: Evidence, gpu: GpuSnapshot, readings: GpuReadings, owners: Owners, pids: ResolvedPids
) -> None:
    uuid = gpu.identity.uuid
    processes = listed(gpu)
    if not processes:
        if in_use(readings):
            evidence.miss(uuid, _silence(readings, pids))
        return
    held: dict[tuple[str, Holder, str], int | None] = {}
    for device, process in _on_devices(gpu, processes):
        owner = owners.of(process.pid)
        server = ""
        if owner.missed is not None:
            evidence.miss(uuid, owner.missed)
        if owner.sample is not None and owner.part is not None:
            server = owner.sample.target.server
            evidence.links.add(Link(server, _engine_of(owner.part, owner.sample), owner.part.rank, device))
        key = (uuid, owner.holder, server)
        so_far, more = held.get(key, 0), process.memory_bytes
        # With one process whose memory is not known, the sum is not.
        held[key] = None if so_far is None or more is None else so_far + more
    evidence.held.update({key: known for key, known in held.items() if known is not None})


def listed(gpu: GpuSnapshot) -> tuple[GpuProcess, ...]:
    """Return the processes on a GPU, each once for every MIG instance of it that it is on.

    The lists of instances are believed before that of the GPU, which may have all, none, or all without their instance.
    """
    whole = (gpu.readings.processes if gpu.readings is not None else None) or ()
    if not gpu.mig_instances:
        return whole
    found = {
        (process.pid, instance.gpu_instance, instance.compute_instance): replace(
            process, gpu_instance=instance.gpu_instance, compute_instance=instance.compute_instance
        )
        for instance in gpu.mig_instances
        for process in instance.processes or ()
    }
    placed = {(pid, gpu_instance) for pid, gpu_instance, _ in found} | {(pid, None) for pid, _, _ in found}
    return (*found.values(), *(process for process in whole if (process.pid, process.gpu_instance) not in placed))


def _silence(readings: GpuReadings, pids: ResolvedPids) -> Unmapped:
    if readings.processes is None:
        return Unmapped.NO_PROCESS_LIST
    # The driver leaves out processes that the asker's namespace does not have.
    return Unmapped.PID_NAMESPACE if pids.own_namespace else Unmapped.EMPTY_PROCESS_LIST


def in_use(readings: GpuReadings) -> bool:
    """Whether anybody uses a GPU, whoever it is: it works, or holds more than drivers and contexts take."""
    memory = readings.memory
    return bool(readings.utilization_ratio) or (memory is not None and memory.used_bytes > _IN_USE_BYTES)


def _on_devices(gpu: GpuSnapshot, processes: Iterable[GpuProcess]) -> Iterator[tuple[Device, GpuProcess]]:
    """Yield each process with the GPU or the MIG instance that it is on."""
    whole = Device(gpu.identity.uuid, gpu.identity.index)
    instances = {
        (instance.gpu_instance, instance.compute_instance): Device(instance.uuid, whole.index, whole.uuid)
        for instance in gpu.mig_instances
    }
    for process in processes:
        yield instances.get((process.gpu_instance, process.compute_instance), whole), process


def _engine_of(part: Part, sample: TargetSample) -> str:
    if part.data_parallel_rank is not None:
        return str(part.data_parallel_rank)
    engines = sample.facts.engines or (FIRST_ENGINE,)
    return engines[0] if len(engines) == 1 else ""


def _without_vague(links: Iterable[Link]) -> Iterator[Link]:
    """Leave out links without a rank where the same server has one with a rank on the same device.

    An engine's or an API server's process may have a context on a GPU beside the worker's.
    """
    ranked = {(link.server, link.device) for link in links if link.rank}
    return (link for link in links if link.rank or (link.server, link.device) not in ranked)


def port_of(target: Target) -> int | None:
    """Return the port that a target is reached on."""
    return urlsplit(target.url).port


def _is_headless(server: FoundServer | None) -> bool:
    return server is not None and server.flags is not None and server.flags.headless
