"""The fleet as data: what `/api/v1/fleet` answers and people's views draw from."""

import math
from dataclasses import dataclass, field

from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.figures.engine import Figures
from vllmwatch.exporter.figures.reckoner import FleetFigures
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.log_tally import LogEvent
from vllmwatch.exporter.vllm.translator import TranslatedPage
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.address import public_url
from vllmwatch.sources.nvml.snapshot import GpuSnapshot, NvmlSnapshot
from vllmwatch.sources.vllm.text import read_sample

VERSION = 1
_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_KV_CACHE_USAGE = "vllm:kv_cache_usage_perc"


@dataclass(frozen=True, slots=True)
class NvmlState:
    """Whether NVML answers, and why not. `reason` is "disabled" where GPUs are not to be read."""

    up: bool
    reason: str | None
    driver_version: str | None


@dataclass(frozen=True, slots=True)
class Carried:
    """A worker on a GPU, or on the MIG instance `mig_uuid` of it; `rank` is empty where it is not known."""

    server: str
    engine: str
    rank: str
    mig_uuid: str


@dataclass(frozen=True, slots=True)
class HeldMemory:
    """Memory of a GPU that a server, another, the dead or an unseen process holds."""

    holder: str
    server: str
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class GpuState:
    """One GPU; what it does not say is null. `unmapped` are the reasons why it is not known who uses it."""

    uuid: str
    index: int
    name: str | None
    up: bool
    temperature_celsius: float | None
    power_watts: float | None
    utilization_ratio: float | None
    memory_used_bytes: int | None
    memory_total_bytes: int | None
    carries: list[Carried] = field(default_factory=list)
    held: list[HeldMemory] = field(default_factory=list)
    unmapped: list[str] = field(default_factory=list)
    figures: Figures = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EngineGpu:
    """A GPU of an engine, and its figures beside those of the engine's other GPUs."""

    uuid: str
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class EngineState:
    """One engine with its model; what its page does not say is null."""

    engine: str
    model_name: str
    requests_running: float | None
    requests_waiting: float | None
    kv_cache_usage_ratio: float | None
    figures: Figures = field(default_factory=dict)
    gpus: list[EngineGpu] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ServerState:
    """One target: whether it is up, why not, and what is known of it."""

    server: str
    node: str
    url: str
    origin: str
    up: bool
    reason: str | None
    role: str
    version: str
    model_name: str
    last_success_seconds: float | None
    engines: list[EngineState]
    figures: Figures = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelState:
    """All servers of a model together."""

    model_name: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Fleet:
    """The last sample of everything. `sampled_at` is Unix time in seconds.

    Figures have the names of the recordings without prefix and level, and their values: docs/reference/recordings.md.
    """

    version: int
    node: str
    sampled_at: float
    nvml: NvmlState
    gpus: list[GpuState]
    servers: list[ServerState]
    models: list[ModelState]
    log_events: list[LogEvent]
    problems: list[str]


def fleet_of(collection: Collection, node: str, figures: FleetFigures) -> Fleet:
    """Return the fleet as a collection found it, with the figures of it and of those before."""
    gpus = collection.gpus
    return Fleet(
        version=VERSION,
        node=node,
        sampled_at=collection.sampled_at_seconds,
        nvml=_nvml_state(gpus),
        gpus=[_gpu_state(gpu, collection.joined, figures) for gpu in gpus.gpus] if gpus is not None else [],
        servers=[_server_state(sample, figures) for sample in collection.targets],
        models=[ModelState(name, figures.models[name]) for name in sorted(figures.models)],
        log_events=list(collection.logs.told),
        problems=[
            *collection.problems,
            *(f"{place.name}: {place.problem}" for place in collection.logs.places if place.problem),
        ],
    )


def _nvml_state(gpus: NvmlSnapshot | None) -> NvmlState:
    if gpus is None:
        return NvmlState(up=False, reason="disabled", driver_version=None)
    return NvmlState(gpus.up, gpus.down_reason, gpus.driver_version)


def _gpu_state(gpu: GpuSnapshot, joined: Joined, figures: FleetFigures) -> GpuState:
    readings, uuid = gpu.readings, gpu.identity.uuid
    memory = readings.memory if readings is not None else None
    return GpuState(
        uuid=uuid,
        index=gpu.identity.index,
        name=gpu.identity.name,
        up=gpu.up,
        temperature_celsius=readings.temperature_celsius if readings else None,
        power_watts=readings.power_watts if readings else None,
        utilization_ratio=readings.utilization_ratio if readings else None,
        memory_used_bytes=memory.used_bytes if memory else None,
        memory_total_bytes=memory.total_bytes if memory else None,
        carries=[
            Carried(link.server, link.engine, link.rank, link.device.uuid if link.device.parent_uuid else "")
            for link in joined.links
            if link.device.gpu_uuid == uuid
        ],
        held=[
            HeldMemory(who, server, held) for (held_gpu, who, server), held in joined.held.items() if held_gpu == uuid
        ],
        unmapped=sorted(joined.unmapped.get(uuid, ())),
        figures=figures.gpus.get(uuid, {}),
    )


def _server_state(sample: TargetSample, figures: FleetFigures) -> ServerState:
    server = sample.target.server
    return ServerState(
        server=server,
        node=sample.target.node,
        url=public_url(sample.target.url),
        origin=sample.target.origin,
        up=sample.up,
        reason=sample.reason,
        role=sample.facts.role,
        version=sample.facts.version,
        model_name=sample.facts.model_name,
        last_success_seconds=sample.facts.last_success_seconds,
        engines=_engine_states(server, sample.page, figures) if sample.page is not None else [],
        figures=figures.servers.get(server, {}),
    )


def _engine_states(server: str, page: TranslatedPage, figures: FleetFigures) -> list[EngineState]:
    running = _by_engine(page, _RUNNING)
    waiting = _by_engine(page, _WAITING)
    usage = _by_engine(page, _KV_CACHE_USAGE)
    engines = dict.fromkeys((*running, *waiting, *usage))
    return [
        EngineState(
            engine,
            model_name,
            sum(running[engine, model_name]) if (engine, model_name) in running else None,
            sum(waiting[engine, model_name]) if (engine, model_name) in waiting else None,
            max(usage[engine, model_name]) if (engine, model_name) in usage else None,
            figures.engines.get((server, engine, model_name), {}),
            [
                EngineGpu(uuid, dict(of_gpu))
                for (whose, which, uuid), of_gpu in figures.engine_gpus.items()
                if (whose, which) == (server, engine)
            ],
        )
        for engine, model_name in engines
    ]


def _by_engine(page: TranslatedPage, family_name: str) -> dict[tuple[str, str], list[float]]:
    """Return a gauge's finite values by engine and model."""
    found: dict[tuple[str, str], list[float]] = {}
    for series, value in page.samples(family_name):
        labels = dict(read_sample(f"{series} 0".encode()).labels)
        if "engine" in labels and math.isfinite(value):
            found.setdefault((labels["engine"], labels.get("model_name", "")), []).append(value)
    return found
