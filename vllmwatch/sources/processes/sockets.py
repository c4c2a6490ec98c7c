"""The listening sockets of a network namespace, and the addresses under which it is reached, from /proc."""

import ipaddress
import re
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The state LISTEN in /proc/net/tcp: include/net/tcp_states.h, TCP_LISTEN.
_LISTEN = " 0A "
_SOCKET = re.compile(r"socket:\[(\d+)\]")
_FIB_ADDRESS = re.compile(r"\|-- (\d+\.\d+\.\d+\.\d+)")
_LOCAL_HOST = "/32 host LOCAL"


@dataclass(frozen=True, slots=True)
class Listener:
    """A TCP socket that listens: on one address, or on all where `host` is the unspecified address."""

    host: str
    port: int
    inode: int

    @property
    def on_all_addresses(self) -> bool:
        """Whether every address of the namespace leads to this socket."""
        return ipaddress.ip_address(self.host).is_unspecified


@dataclass(frozen=True, slots=True)
class Namespace:
    """A network namespace: its listeners, and its addresses that are not loopback ones.

    `ours` says that it is the one that we are in ourselves, where loopback addresses lead to it too; `of_host` that
    it is the host's (that of process 1).
    """

    listeners: tuple[Listener, ...]
    addresses: tuple[str, ...]
    ours: bool
    of_host: bool


class SocketReader:
    """Reads namespaces and the sockets of processes from a proc file system; None is "could not look"."""

    def __init__(self, proc: Path = Path("/proc")) -> None:
        self._proc = proc

    def namespace_of(self, pid: int) -> Namespace | None:
        """Return the network namespace of a process, or None when it shows nothing (gone, or not ours to see)."""
        folder = self._proc / str(pid) / "net"
        try:
            listeners = (*self._listeners(folder / "tcp"), *self._listeners(folder / "tcp6"))
            addresses = self._addresses(str(pid))
        except OSError:
            return None
        its = self.network_of(pid)
        if its is None:
            # Another user's process: its namespace has no number for us, yet its addresses can be compared.
            ours = of_host = addresses == self._addresses("self")
        else:
            ours, of_host = its == self._identity("self"), its == self._identity("1")
        return Namespace(listeners, addresses, ours, of_host or (ours and self._identity("1") is None))

    def network_of(self, pid: int) -> int | None:
        """Return the number of the network namespace of a process, or None when it is not ours to see."""
        return self._identity(str(pid))

    def shares_our_network(self, pid: int) -> bool:
        """Tell whether a process is known to be in the network namespace that we are in."""
        its = self.network_of(pid)
        return its is not None and its == self._identity("self")

    def inodes_of(self, pid: int) -> frozenset[int] | None:
        """Return the inodes of the sockets that a process holds, or None when it is not ours to see."""
        found = set()
        try:
            for entry in (self._proc / str(pid) / "fd").iterdir():
                try:
                    match = _SOCKET.fullmatch(str(entry.readlink()))
                except FileNotFoundError:
                    continue
                if match:
                    found.add(int(match[1]))
        except OSError:
            return None
        return frozenset(found)

    def read_in(self, pid: int, path: str, limit_bytes: int = 1024 * 1024) -> str | None:
        """Return the text of a file as a process sees it (its root and working directory), or None."""
        base = self._proc / str(pid)
        whole = base / "root" / path.lstrip("/") if path.startswith("/") else base / "cwd" / path
        try:
            with whole.open("rb") as stream:
                return stream.read(limit_bytes).decode("utf-8", "replace")
        except OSError:
            return None

    def _identity(self, pid: str) -> int | None:
        try:
            return (self._proc / pid / "ns" / "net").stat().st_ino
        except OSError:
            return None

    def _listeners(self, path: Path) -> Iterator[Listener]:
        try:
            content = path.read_text()
        except FileNotFoundError:
            if path.name == "tcp6":
                return  # a kernel without IPv6
            raise
        yield from parse_listeners(content)

    def _addresses(self, pid: str) -> tuple[str, ...]:
        return parse_local_addresses((self._proc / pid / "net" / "fib_trie").read_text())


def parse_listeners(content: str) -> Iterator[Listener]:
    """Yield the listening sockets in the text of /proc/net/tcp or tcp6."""
    for line in content.splitlines()[1:]:
        if _LISTEN not in line:
            continue  # a busy host has tens of thousands of connections
        columns = line.split(maxsplit=10)
        if len(columns) > 9 and columns[3] == _LISTEN.strip():  # noqa: PLR2004 - the tenth column is the inode
            address, _, port = columns[1].partition(":")
            yield Listener(_host(address), int(port, 16), int(columns[9]))


def parse_local_addresses(content: str) -> tuple[str, ...]:
    """Return the IPv4 addresses of a namespace in the text of /proc/net/fib_trie, loopback ones left out, sorted."""
    found = set()
    address = ""
    for line in content.splitlines():
        if match := _FIB_ADDRESS.search(line):
            address = match[1]
        elif _LOCAL_HOST in line and address and not ipaddress.ip_address(address).is_loopback:
            found.add(address)
    return tuple(sorted(found, key=ipaddress.ip_address))


def _host(text: str) -> str:
    """Read an address as the kernel writes it: 32-bit words in the machine's own byte order, in hexadecimal."""
    words = [int(text[start : start + 8], 16) for start in range(0, len(text), 8)]
    packed = struct.pack(f"={len(words)}I", *words)
    family = socket.AF_INET if len(words) == 1 else socket.AF_INET6
    host = ipaddress.ip_address(socket.inet_ntop(family, packed))
    mapped = getattr(host, "ipv4_mapped", None)
    return str(mapped or host)
