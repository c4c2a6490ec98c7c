"""What fills in where processes do not tell: the mapping of the configuration, and servers' environments; pure."""

from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import urlsplit

from vllmwatch.exporter.join.devices import Devices, OrderUnknownError
from vllmwatch.exporter.join.evidence import FIRST_ENGINE, Evidence, port_of
from vllmwatch.exporter.join.links import Device, Link
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.address import is_loopback, public_url
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
        Unmapped.HIDDEN,
        Unmapped.ELSEWHERE,
        Unmapped.RAY,
        Unmapped.DEVICE_ORDER,
    }
)
# Where a server's environment may speak: the GPU is in use, and its processes cannot be seen.
_SILENT = frozenset({Unmapped.NO_PROCESS_LIST, Unmapped.EMPTY_PROCESS_LIST, Unmapped.PID_NAMESPACE, Unmapped.HIDDEN})

Place = tuple[str, str]
"""A server and one of its engines; the engine is empty where it is not known which."""


def fill_from_configuration(
    evidence: Evidence, devices: Devices, samples: Sequence[TargetSample], mappings: Sequence[ServerGpus]
) -> None:
    """Add what the configuration says of servers whose processes do not tell."""
    found = set(evidence.links)
    mapped = {link.server for link in found}
    by_server = {sample.target.server: sample for sample in reversed(samples)}
    by_page = {_page(sample.target.url): sample for sample in reversed(samples)} if mappings else {}
    for mapping in mappings:
        sample = by_server.get(mapping.server) or by_page.get(_page(mapping.url))
        server = sample.target.server if sample is not None else mapping.server
        named = [(name, devices.named(name)) for name in mapping.gpus]
        for name, device in named:
            if device is None:
                evidence.notes.append(f"servers: {public_url(mapping.url)}: there is no GPU {name!r} on this host")
        chosen = tuple(device for _, device in named if device is not None)
        against = _against(evidence, found, server, chosen)
        if against is not None:
            evidence.notes.append(f"servers: {public_url(mapping.url)}: {against}; the mapping is left aside")
        elif server not in mapped:
            places = [(server, engine) for engine in _engines(sample)]
            evidence.links.update(_spread(places, chosen, None))
            _answer(evidence, chosen)


def fill_from_environments(
    evidence: Evidence, devices: Devices, samples: Sequence[TargetSample], servers: Sequence[FoundServer]
) -> None:
    """Add what the environments of servers say, on GPUs that are in use by processes that cannot be seen."""
    mapped = {link.server for link in evidence.links}
    open_gpus = {uuid for uuid, reasons in evidence.unmapped.items() if reasons & _SILENT}
    unordered = False
    for server in servers if open_gpus else ():
        its = [sample for sample in samples if sample.target.pid == server.tree.root.pid]
        if not its or any(sample.target.server in mapped for sample in its):
            continue
        try:
            chosen = _told(server, devices)
        except OrderUnknownError:
            unordered = True
            continue
        on = {device.gpu_uuid for device in chosen}
        if on & open_gpus and on <= open_gpus | devices.lost:
            pages = sorted(its, key=lambda sample: port_of(sample.target) or 0)
            places = [(sample.target.server, engine) for sample in pages for engine in _engines(sample)]
            evidence.links.update(_spread(places, chosen, server.flags))
            _answer(evidence, chosen)
    for uuid in open_gpus & evidence.unmapped.keys() if unordered else ():
        evidence.miss(uuid, Unmapped.DEVICE_ORDER)


def _against(evidence: Evidence, found: Iterable[Link], server: str, chosen: Sequence[Device]) -> str | None:
    """Return what processes say against a mapping, or None where they say nothing against it."""
    seen = {link.device for link in found if link.server == server}
    if seen and seen != set(chosen):
        return f"it is on {_uuids(seen)} by its processes, not on {_uuids(set(chosen))}"
    for link in () if seen else sorted(found):
        all_seen = not evidence.unmapped.get(link.device.gpu_uuid, set()) & _ANSWERED
        if link.device in chosen and all_seen:
            return f"{link.device.uuid} carries {link.server} by its processes"
    return None


def _told(server: FoundServer, devices: Devices) -> tuple[Device, ...]:
    """Return the devices that a server takes by its environment and its flags; nothing where they leave a choice."""
    variables, flags = server.devices, server.flags
    if variables is None:
        return ()
    visible = devices.visible(variables)
    count = _count(flags) if flags is not None else len(visible)
    is_limited = variables.cuda is not None or (variables.nvidia is not None and not variables.shared_view)
    if not is_limited and count != len(visible):
        return ()
    # vLLM takes the first of those that it sees.
    return visible[:count] if count <= len(visible) else ()


def _count(flags: ServerFlags) -> int:
    return flags.data_parallel_local * flags.pipeline_parallel * flags.tensor_parallel


def _engines(sample: TargetSample | None) -> Sequence[str]:
    """Return the engines of a page in the order of their numbers, which is that of their GPUs."""
    engines = sample.facts.engines if sample is not None else ()
    return sorted(engines, key=lambda engine: (len(engine), engine)) or (FIRST_ENGINE,)


def _spread(places: Sequence[Place], devices: Sequence[Device], flags: ServerFlags | None) -> Iterator[Link]:
    """Give each engine its share of the devices, in order; where they do not divide, which engine is not known."""
    share, rest = divmod(len(devices), len(places))
    if rest or not share:
        servers = {server for server, _ in places}
        yield from (Link(server, "", "", device) for server in servers for device in devices if len(servers) == 1)
        return
    for number, device in enumerate(devices):
        server, engine = places[number // share]
        yield Link(server, engine, _rank(number % share, flags) if flags is not None else "", device)


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


def _page(url: str) -> tuple[str, int | None, str]:
    """Return what makes a page, with one name for all loopback addresses."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return "localhost" if is_loopback(host) else host, parts.port, parts.path.rstrip("/")


def _uuids(devices: set[Device]) -> str:
    return ", ".join(device.uuid for device in sorted(devices)) or "none"
