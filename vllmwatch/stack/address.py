"""Addresses that programs listen on and are reached at; pure."""

from collections.abc import Callable
from dataclasses import dataclass

from vllmwatch.errors import ConfigError

_EVERYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1", "*": "127.0.0.1"}
_PORTS = range(1, 65536)


@dataclass(frozen=True, slots=True)
class Address:
    """A host (a name or an IP address, without brackets) and a TCP port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def reached_at(self) -> "Address":
        """The address by which this machine itself reaches who listens here."""
        return Address(_EVERYWHERE.get(self.host, self.host), self.port)

    @property
    def url(self) -> str:
        """The HTTP URL of `reached_at`, without a slash at the end."""
        return f"http://{self.reached_at}"


def parse_address(text: str) -> Address:
    """Read `host:port`, `[::1]:port` or `:port`; raises ConfigError."""
    host, colon, port = text.strip().rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        colon = ""
    if not colon or not port.isdecimal() or int(port) not in _PORTS:
        raise ConfigError(f"'{text}' is no address to listen on", hint="write host:port, such as 127.0.0.1:9836")
    return Address(host, int(port))


def next_free(wanted: Address, is_free: Callable[[Address], bool], tries: int = 20) -> Address | None:
    """Return the first free address from `wanted` upwards, port by port, or None."""
    for port in range(wanted.port, min(wanted.port + tries, _PORTS.stop)):
        address = Address(wanted.host, port)
        if is_free(address):
            return address
    return None
