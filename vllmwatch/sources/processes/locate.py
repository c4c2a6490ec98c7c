"""From a server's processes and sockets to the addresses of its metrics pages; pure."""

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vllmwatch.sources.address import METRICS_PATH, join_host_port
from vllmwatch.sources.processes.flags import DEFAULT_PORT, ServerFlags
from vllmwatch.sources.processes.roles import Role
from vllmwatch.sources.processes.servers import PublishedPort, ServerTree
from vllmwatch.sources.processes.sockets import Listener, Namespace
from vllmwatch.sources.target import Access, Origin, Target

# The members that may hold the socket of the metrics page: the Rust front end has no role of its own. Engines, workers
# and coordinators listen too (ZeroMQ, the rendezvous of torch), never with a metrics page.
SERVING_ROLES: tuple[Role | None, ...] = (Role.SERVER, Role.API_SERVER, None)


@dataclass(frozen=True, slots=True)
class Sight:
    """What was seen of one server: its namespace, and the inodes of its serving sockets (None: not ours to see)."""

    namespace: Namespace | None
    inodes: frozenset[int] | None


class Unreachable(Exception):  # noqa: N818 - a server that is there and cannot be scraped is a finding
    """A server that has no metrics page for us; the text says why."""


def locate(
    tree: ServerTree, flags: ServerFlags | None, sight: Sight, published: Sequence[PublishedPort], node: str
) -> tuple[Target, ...]:
    """Return the targets of one server on the host `node`, one for each rank with a port of its own.

    `flags` is None where the root's title has replaced its command line. A port that is not listened on yet makes a
    target that is loading. Raises Unreachable; a headless part of a server has no page, and gives no target.
    """
    if flags is not None and flags.headless:
        return ()
    _require_http(tree, flags)
    if sight.namespace is None:
        raise Unreachable(f"process {tree.root.pid}: its network cannot be looked at; run as root, or name the target")
    listeners = _own_listeners(sight.namespace, sight.inodes)
    targets = []
    for port in _ports(tree, flags, listeners, owned=sight.inodes is not None):
        listener = _best(listeners, port)
        host = _host(tree, flags, listener, sight.namespace)
        targets.append(_target(tree, flags, host, port, sight.namespace, published, node, loading=listener is None))
    return tuple(targets)


def _require_http(tree: ServerTree, flags: ServerFlags | None) -> None:
    if flags is not None and flags.uds:
        raise Unreachable(f"process {tree.root.pid}: the server listens on the Unix socket {flags.uds} alone (--uds)")
    if flags is not None and flags.grpc:
        raise Unreachable(f"process {tree.root.pid}: the server speaks gRPC alone (--grpc) and has no metrics page")


def _own_listeners(namespace: Namespace, inodes: frozenset[int] | None) -> tuple[Listener, ...]:
    return tuple(entry for entry in namespace.listeners if inodes is None or entry.inode in inodes)


def _ports(
    tree: ServerTree, flags: ServerFlags | None, listeners: Iterable[Listener], *, owned: bool
) -> tuple[int, ...]:
    """Return the ports of the pages: by the command line; where it is silent, by the sockets."""
    if flags is not None and flags.port != 0:
        return flags.ports
    open_ports = {listener.port for listener in listeners} if owned else set()
    if len(open_ports) == 1:
        return tuple(open_ports)
    if DEFAULT_PORT in open_ports:
        return (DEFAULT_PORT,)
    seen = f"it listens on {', '.join(map(str, sorted(open_ports)))}" if open_ports else "it listens on none yet"
    raise Unreachable(
        f"process {tree.root.pid}: the port of the server is not in its title, and {seen}; name the target"
    )


def _best(listeners: Iterable[Listener], port: int) -> Listener | None:
    """Return the listener of a port, one on all addresses before others, IPv4 before IPv6."""
    ours = [listener for listener in listeners if listener.port == port]
    return min(ours, key=lambda entry: (not entry.on_all_addresses, ":" in entry.host, entry.host), default=None)


def _host(tree: ServerTree, flags: ServerFlags | None, listener: Listener | None, namespace: Namespace) -> str:
    """Return the host under which we reach a listener, or will reach it once it is there."""
    bound = listener.host if listener is not None else _literal(flags.host if flags is not None else None)
    address = ipaddress.ip_address(bound)
    if not address.is_unspecified and not (address.is_loopback and not namespace.ours):
        return bound
    if namespace.ours:
        return "::1" if address.version == 6 else "127.0.0.1"  # noqa: PLR2004 - the version of IP
    if address.is_loopback:
        raise Unreachable(
            f"process {tree.root.pid}: the server listens on the loopback address of its own network alone; "
            "start it with --host 0.0.0.0, or the exporter in that network"
        )
    if not namespace.addresses:
        raise Unreachable(f"process {tree.root.pid}: the network of the server has no address")
    return namespace.addresses[0]


def _literal(host: str | None) -> str:
    """Return the address that --host names; a name that is no address may be any: all addresses."""
    try:
        return str(ipaddress.ip_address(host or "0.0.0.0"))
    except ValueError:
        return "127.0.0.1" if host == "localhost" else "0.0.0.0"


def _target(
    tree: ServerTree,
    flags: ServerFlags | None,
    host: str,
    port: int,
    namespace: Namespace,
    published: Sequence[PublishedPort],
    node: str,
    *,
    loading: bool,
) -> Target:
    server = join_host_port(node, port)
    if not namespace.ours and (door := _door(namespace, port, published)):
        host, port = "127.0.0.1" if ipaddress.ip_address(door.host).is_unspecified else door.host, door.port
        server = join_host_port(node, port)
    elif not namespace.of_host and not namespace.ours:
        # Containers of two hosts often have the same address, and those of one host the same port.
        server = f"{node}/{join_host_port(host, port)}"
    tls = flags is not None and flags.tls
    return Target(
        url=f"{'https' if tls else 'http'}://{join_host_port(host, port)}{METRICS_PATH}",
        server=server,
        node=node,
        origin=Origin.PROCESS,
        # The certificate names the host that users see, not the address that leads to it from here.
        access=Access(insecure_skip_verify=tls),
        pid=tree.root.pid,
        loading=loading,
    )


def _door(namespace: Namespace, port: int, published: Sequence[PublishedPort]) -> PublishedPort | None:
    fitting = [door for door in published if door.container_port == port and door.container_host in namespace.addresses]
    return min(fitting, key=lambda door: (":" in door.host, door.port), default=None)
