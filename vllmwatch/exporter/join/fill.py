"""What fills in where processes do not tell: the mapping of the configuration, and servers' environments; pure."""

from collections.abc import Iterator, Sequence

from vllmwatch.exporter.join.devices import Devices, OrderUnknownError
from vllmwatch.exporter.join.evidence import FIRST_ENGINE, Evidence
from vllmwatch.exporter.join.links import Device, Link
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.address import public_url
from vllmwatch.sources.processes import FoundServer
from vllmwatch.sources.processes.flags import ServerFlags
from vllmwatch.sources.target import ServerGpus
from vllmwatch.spec.join import Unmapped

# What a mapping answers; that an orphan or a server that is no target holds the GPU stays true beside it.
_ANSWERED = frozenset(
    {
        Unmapped.NO_PROCESS_LIST,
        Unmapped.EMPTY_PROCESS_LIST,
        Unmapped.PID_NAMESPACE,
        Unmapped.ELSEWHERE,
        Unmapped.RAY,
        Unmapped.DEVICE_ORDER,
    }
)
# Where a server's environment may speak: the GPU is in use, and its processes cannot be seen.
_SILENT = frozenset({Unmapped.NO_PROCESS_LIST, Unmapped.EMPTY_PROCESS_LIST, Unmapped.PID_NAMESPACE})


def fill_from_configuration(
    evidence: Evidence, devices: Devices, samples: Sequence[TargetSample], mappings: Sequence[ServerGpus]
) -> None:
    """Add what the configuration says of servers whose processes do not tell."""
    for mapping in mappings:
        sample = _sample_named(mapping, samples)
        server = sample.target.server if sample is not None else mapping.server
        named = [(name, devices.named(name)) for name in mapping.gpus]
        for name, device in named:
            if device is None:
                evidence.notes.append(f"servers: {public_url(mapping.url)}: there is no GPU {name!r} on this host")
        chosen = tuple(device for _, device in named if device is not None)
        seen = {link.device for link in evidence.links if link.server == server}
        if seen:
            if seen != set(chosen):
                evidence.notes.append(
                    f"servers: {public_url(mapping.url)} is on {_uuids(seen)} by its processes, "
                    f"not on {_uuids(set(chosen))}; the mapping is left aside"
                )
            continue
        engines = sample.facts.engines if sample is not None else ()
        evidence.links.update(_spread(server, engines or (FIRST_ENGINE,), chosen, None))
        _answer(evidence, chosen)


def fill_from_environments(
    evidence: Evidence, devices: Devices, samples: Sequence[TargetSample], servers: Sequence[FoundServer]
) -> None:
    """Add what the environments of servers say, on GPUs that are in use by processes that cannot be seen."""
    mapped = {link.server for link in evidence.links}
    open_gpus = {uuid for uuid, reasons in evidence.unmapped.items() if reasons & _SILENT}
    of_root = {sample.target.pid: sample for sample in samples if sample.target.server not in mapped}
    for server in servers:
        sample = of_root.get(server.tree.root.pid)
        if sample is None or not open_gpus:
            continue
        try:
            chosen = _told(server, devices)
        except OrderUnknownError:
            for uuid in open_gpus:
                evidence.miss(uuid, Unmapped.DEVICE_ORDER)
            continue
        if chosen and all(device.gpu_uuid in open_gpus for device in chosen):
            engines = sample.facts.engines or (FIRST_ENGINE,)
            evidence.links.update(_spread(sample.target.server, engines, chosen, server.flags))
            _answer(evidence, chosen)


def _told(server: FoundServer, devices: Devices) -> tuple[Device, ...]:
    """Return the devices that a server takes by its environment and its flags; nothing where they leave a choice."""
    variables, flags = server.devices, server.flags
    if variables is None:
        return ()
    visible = devices.visible(variables)
    count = _count(flags) if flags is not None else len(visible)
    if variables.cuda is None and variables.nvidia is None and count != len(visible):
        return ()
    # vLLM takes the first of those that it sees.
    return visible[:count] if count <= len(visible) else ()


def _count(flags: ServerFlags) -> int:
    return flags.data_parallel_local * flags.pipeline_parallel * flags.tensor_parallel


def _spread(
    server: str, engines: Sequence[str], devices: Sequence[Device], flags: ServerFlags | None
) -> Iterator[Link]:
    """Give each engine its share of the devices, in order; where they do not divide, which engine is not known."""
    share, rest = divmod(len(devices), len(engines))
    for number, device in enumerate(devices):
        engine = engines[number // share] if share and not rest else ""
        yield Link(server, engine, _rank(number % share, flags) if flags is not None and share else "", device)


def _rank(number: int, flags: ServerFlags) -> str:
    stage, worker = divmod(number, flags.tensor_parallel)
    return f"PP{stage}_TP{worker}" if flags.pipeline_parallel > 1 else f"TP{worker}"


def _answer(evidence: Evidence, devices: Sequence[Device]) -> None:
    for uuid in {device.gpu_uuid for device in devices}:
        left = evidence.unmapped.get(uuid, set()) - _ANSWERED
        if left:
            evidence.unmapped[uuid] = left
        else:
            evidence.unmapped.pop(uuid, None)


def _sample_named(mapping: ServerGpus, samples: Sequence[TargetSample]) -> TargetSample | None:
    return next(
        (sample for sample in samples if mapping.server == sample.target.server or mapping.url == sample.target.url),
        None,
    )


def _uuids(devices: set[Device]) -> str:
    return ", ".join(device.uuid for device in sorted(devices)) or "none"
