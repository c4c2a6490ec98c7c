"""Which vLLM servers there are: from the configuration, from files, and from the processes of this host."""

import ipaddress
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol
from urllib.parse import urlsplit

from vllmwatch.sources.address import is_loopback, mask_secrets
from vllmwatch.sources.processes import Found, ServerFinder
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.unicode_text import writable

# Where one server is known from several places, what was written down wins over what was found.
_RANKS: tuple[Origin, ...] = (Origin.STATIC, Origin.FILE_SD, Origin.PROCESS)


@dataclass(frozen=True, slots=True)
class Discovered:
    """The targets known now, and what kept others from being known (a line each, for people).

    `host` is what was seen of this host's processes, None where they were not looked at.
    """

    targets: tuple[Target, ...]
    problems: tuple[str, ...] = ()
    host: Found | None = None


class TargetSource(Protocol):
    """Something that knows targets; asked again and again, by one thread at a time."""

    def discover(self) -> Discovered:
        """Return the targets known now."""
        ...


class StaticTargets:
    """The targets of the configuration."""

    def __init__(self, targets: Iterable[Target]) -> None:
        self._discovered = Discovered(tuple(targets))

    def discover(self) -> Discovered:
        """Return the targets."""
        return self._discovered


class ProcessTargets:
    """The vLLM servers that run on this host."""

    def __init__(self, finder: ServerFinder) -> None:
        self._finder = finder

    def discover(self) -> Discovered:
        """Return the servers that run or load now."""
        found = self._finder.find()
        targets = tuple(target for server in found.servers for target in server.targets)
        return Discovered(targets, found.problems, found)


class KnownProcesses:
    """The processes of servers that are written down: they tell of those, and add none."""

    def __init__(self, finder: ServerFinder) -> None:
        self._finder = finder

    def discover(self) -> Discovered:
        """Return what is seen of this host's processes, its servers as found and never as targets of their own."""
        return Discovered((), (), self._finder.find())


class Discovery:
    """All sources of targets together.

    `own_names` gives the names and addresses of this host: a target written down under one of them and a server found
    here on the same port are the same server: the one written down stays, and takes over what the process tells.
    """

    def __init__(self, sources: Sequence[TargetSource], own_names: Callable[[], frozenset[str]]) -> None:
        self._sources = tuple(sources)
        self._own_names = own_names

    def discover(self) -> Discovered:
        """Return the targets of all sources, each server once and each name once; never raises."""
        targets: list[Target] = []
        problems: list[str] = []
        host: Found | None = None
        for source in self._sources:
            try:
                part = source.discover()
            except Exception as error:  # noqa: BLE001 - one source that fails must not hide what the others know
                problems.append(f"{type(source).__name__}: {type(error).__name__}: {error}")
                continue
            targets.extend(part.targets)
            problems.extend(part.problems)
            host = part.host or host
        try:
            own_names = self._own_names()
        except OSError:
            own_names = frozenset()
        found = _merge(targets, problems, own_names, host)
        # A path or a command line may hold bytes that are not UTF-8.
        return replace(found, problems=tuple(map(writable, found.problems)))


def _merge(targets: list[Target], problems: list[str], own_names: frozenset[str], host: Found | None) -> Discovered:
    """Keep each address once, the higher rank first; two servers of one name are a problem, the later one left out."""
    by_page: dict[tuple[str, ...], Target] = {}
    by_name: dict[str, Target] = {}
    found_here = [entry for entry in targets if entry.origin is Origin.PROCESS]
    seen = [target for server in host.servers for target in server.targets] if host is not None else []
    running = {_door(entry.url, own_names): entry for entry in (*seen, *found_here)}
    written = {_door(entry.url, own_names) for entry in targets if entry.origin is not Origin.PROCESS}
    for found in sorted(targets, key=lambda entry: _RANKS.index(entry.origin)):
        door = _door(found.url, own_names)
        if found.origin is Origin.PROCESS and door in written:
            continue
        here = running.get(door)
        target = found if here is None else replace(found, pid=here.pid, loading=here.loading)
        if by_page.setdefault(_page(target.url, own_names), target) is not target:
            continue
        first = by_name.setdefault(target.server, target)
        if first is not target:
            problems.append(
                f"{mask_secrets(target.url)} ({target.origin}) and {mask_secrets(first.url)} ({first.origin}) would "
                f"both be the server {target.server!r}; the first is left out until one of them has another name"
            )
    return Discovered(tuple(by_name.values()), tuple(problems), host)


def _door(url: str, own_names: frozenset[str]) -> tuple[str, ...]:
    """Return host and port, with one host for all names of this host."""
    parts = urlsplit(url)
    return _one_name(parts.hostname or "", own_names), str(parts.port)


def _page(url: str, own_names: frozenset[str]) -> tuple[str, ...]:
    parts = urlsplit(url)
    return (*_door(url, own_names), parts.path.rstrip("/"), parts.query)


def _one_name(host: str, own_names: frozenset[str]) -> str:
    if is_loopback(host) or host in own_names:
        return "localhost"
    try:
        ipaddress.ip_address(host)
    except ValueError:
        # A name with a domain is this host's when its first part is: asking DNS would cost more than it tells.
        return "localhost" if host.partition(".")[0] in own_names else host
    return host
