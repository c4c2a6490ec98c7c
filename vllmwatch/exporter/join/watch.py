"""The join over time: made anew when something that it rests on changed, and remembered for GPUs that are lost."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from vllmwatch.exporter.join.devices import Devices
from vllmwatch.exporter.join.evidence import Owners, gather, in_use, listed
from vllmwatch.exporter.join.fill import fill_from_configuration, fill_from_environments
from vllmwatch.exporter.join.links import Joined, Link
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot
from vllmwatch.sources.processes import Found
from vllmwatch.sources.processes.pids import PidResolver, ResolvedPids
from vllmwatch.sources.target import ServerGpus

_log = logging.getLogger(__name__)
REMEMBERED_SECONDS = 3600.0


class Resolves(Protocol):
    """What tells the meaning of the driver's process numbers."""

    def resolve(self, numbers: frozenset[int], known: Mapping[int, float]) -> ResolvedPids:
        """Resolve the numbers on all GPUs together; `known` are vLLM's processes: pid and time of creation."""
        ...


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a GPU carried when it was last seen, at `at` (monotonic seconds)."""

    links: frozenset[Link]
    at: float


class JoinWatch:
    """Joins look after look; a GPU that is lost keeps the engines that it carried for an hour.

    `remembered` is what another, whose place this one takes, knew. `clock` is monotonic, in seconds.
    """

    def __init__(
        self,
        mappings: Sequence[ServerGpus] = (),
        resolver: Resolves | None = None,
        *,
        remembered: Mapping[str, Remembered] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mappings = tuple(mappings)
        self._resolver = resolver or PidResolver()
        self._clock = clock
        self._lock = threading.Lock()
        self._basis: tuple[object, ...] | None = None
        self._host: Found | None = None
        self._joined = Joined()
        self._remembered = dict(remembered or {})

    def join(self, snapshot: NvmlSnapshot, host: Found | None, samples: Sequence[TargetSample]) -> Joined:
        """Return the join of this look."""
        basis = (_uses(snapshot), _facts(samples))
        with self._lock:
            if basis != self._basis or host is not self._host:
                self._basis = basis
                self._host = host
                self._joined = self._joined_anew(snapshot, host, samples)
            return self._with_remembered(snapshot, self._joined)

    def remembered(self) -> Mapping[str, Remembered]:
        """Return what each GPU, by UUID, carried when it was last seen."""
        with self._lock:
            return dict(self._remembered)

    def _joined_anew(self, snapshot: NvmlSnapshot, host: Found | None, samples: Sequence[TargetSample]) -> Joined:
        try:
            return join(snapshot, host, samples, self._mappings, self._resolver)
        except Exception as error:  # noqa: BLE001  a fault of the join costs the join and not the page
            _log.exception("the GPUs could not be joined with their engines")
            return Joined(notes=(f"the join failed: {type(error).__name__}: {error}",))

    def _with_remembered(self, snapshot: NvmlSnapshot, joined: Joined) -> Joined:
        now = self._clock()
        up = {gpu.identity.uuid for gpu in snapshot.gpus if gpu.up}
        for uuid in up:
            links = frozenset(link for link in joined.links if link.device.gpu_uuid == uuid)
            self._remembered[uuid] = Remembered(links, now)
        self._remembered = {
            uuid: kept for uuid, kept in self._remembered.items() if now - kept.at <= REMEMBERED_SECONDS
        }
        workers = {_worker(link) for link in joined.links if link.rank}
        known = {(*_worker(link), link.device.uuid) for link in joined.links}
        lost = [
            link
            for uuid, kept in self._remembered.items()
            if uuid not in up
            for link in kept.links
            # A worker that is on another GPU now has left this one; one without a rank cannot be told from others.
            if _worker(link) not in workers and (*_worker(link), link.device.uuid) not in known
        ]
        return (
            joined if not lost else Joined((*joined.links, *sorted(lost)), joined.held, joined.unmapped, joined.notes)
        )


def _worker(link: Link) -> tuple[str, str, str]:
    return link.server, link.engine, link.rank


def join(
    snapshot: NvmlSnapshot,
    host: Found | None,
    samples: Sequence[TargetSample],
    mappings: Sequence[ServerGpus],
    resolver: Resolves,
) -> Joined:
    """Join one look at the GPUs, the processes and the targets."""
    numbers = frozenset(process.pid for gpu in snapshot.gpus for process in listed(gpu))
    parts = host.parts if host is not None else {}
    pids = resolver.resolve(numbers, {pid: part.process.create_time_seconds for pid, part in parts.items()})
    evidence = gather(snapshot, Owners(host, pids, samples), pids)
    devices = Devices(snapshot)
    fill_from_configuration(evidence, devices, samples, mappings)
    fill_from_environments(evidence, devices, samples, host.servers if host is not None else ())
    return Joined(
        tuple(sorted(evidence.links)),
        evidence.held,
        {uuid: frozenset(reasons) for uuid, reasons in evidence.unmapped.items()},
        tuple(evidence.notes),
    )


def _uses(snapshot: NvmlSnapshot) -> tuple[object, ...]:
    """Return what the join rests on of the GPUs."""
    return tuple(
        (
            gpu.identity.uuid,
            listed(gpu) or (gpu.readings is not None and in_use(gpu.readings)),
            tuple(instance.uuid for instance in gpu.mig_instances),
        )
        for gpu in snapshot.gpus
    )


def _facts(samples: Sequence[TargetSample]) -> tuple[object, ...]:
    return tuple((sample.target.server, sample.target.pid, sample.facts.engines) for sample in samples)
