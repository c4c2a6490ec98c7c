"""Addresses of metrics pages: from what people write to one Target with a stable name."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from vllmwatch.sources.target import Access, Origin, Target

METRICS_PATH = "/metrics"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_USER_INFO = re.compile(r"//.*@", re.DOTALL)
_BLANKS = re.compile(r"[\s\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Address:
    """The parts of a page's address: `host` in lower case and without brackets, `port` always known.

    `path` is the whole path of the page; `prefix` is what stands before /metrics in it ("" for none).
    """

    scheme: str
    host: str
    port: int
    path: str
    query: str
    username: str | None = None
    password: str | None = None

    @property
    def prefix(self) -> str:
        """What stands before /metrics in the path, without a slash at the end."""
        return self.path.rstrip("/").removesuffix(METRICS_PATH).rstrip("/")

    @property
    def host_and_port(self) -> str:
        """The host and the port, the host in brackets where it is an IPv6 address."""
        return join_host_port(self.host, self.port)

    @property
    def url(self) -> str:
        """The whole address without credentials; the port is written even where it is the scheme's own."""
        return urlunsplit((self.scheme, self.host_and_port, self.path, self.query, ""))


def join_host_port(host: str, port: int) -> str:
    """Join a host and a port, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def mask_credentials(address: str) -> str:
    """Return an address as it may be shown: what stands before the @ is masked."""
    return _USER_INFO.sub("//***@", address if "://" in address else f"//{address}", count=1).removeprefix("//")


def is_loopback(host: str) -> bool:
    """Tell whether a host is this host by definition: localhost, a loopback address, or the unspecified address."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        parsed = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return parsed.is_loopback or parsed.is_unspecified


def parse_address(text: str, *, exact_path: bool = False) -> Address:
    """Read an address: the scheme may be left out (http), and /metrics is added where the path does not end in it.

    With `exact_path` the path is taken as it stands.

    Raises ValueError with what is wrong; the text never shows credentials.
    """
    shown = mask_credentials(text)
    if not text or _BLANKS.search(text):
        raise ValueError(f"{shown!r} is no address: it is empty or has blanks in it")
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError:
        raise ValueError(
            f"{shown!r} is no address: http://host:port is asked for, an IPv6 address in brackets"
        ) from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError(f"{shown!r} is no address of a metrics page: it starts with neither http:// nor https://")
    if not parts.hostname or port == 0:
        raise ValueError(f"{shown!r} is no address: it has no {'host' if port != 0 else 'usable port'}")
    path = parts.path
    if not exact_path and not path.rstrip("/").endswith(METRICS_PATH):
        path = path.rstrip("/") + METRICS_PATH
    return _from_parts(parts, parts.hostname, port or _DEFAULT_PORTS[parts.scheme], path)


def _from_parts(parts: SplitResult, host: str, port: int, path: str) -> Address:
    return Address(
        scheme=parts.scheme,
        host=host.lower(),
        port=port,
        path=path,
        query=parts.query,
        username=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
    )


def server_name(address: Address, node: str) -> str:
    """Return the name that a server's series carry: host:port, with the node for a loopback host.

    A path before /metrics is part of the name, always and not only where two names would meet: a second server
    behind the same gateway must not rename the first.
    """
    host = node if is_loopback(address.host) else address.host
    return join_host_port(host, address.port) + address.prefix


def target_from_address(
    address: Address,
    *,
    origin: Origin,
    this_node: str,
    access: Access | None = None,
    server: str | None = None,
    node: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Target:
    """Make a target: `server` and `node`, where given, win over what the address says.

    Credentials in the address move to the access. `this_node` is the name of the host that we run on.
    Raises ValueError when both the address and `access` hold credentials.
    """
    loopback = is_loopback(address.host)
    on_node = node or (this_node if loopback else address.host)
    return Target(
        url=address.url,
        server=server or server_name(address, on_node),
        node=on_node,
        origin=origin,
        access=_with_credentials(access or Access(), address),
        labels=dict(labels or {}),
    )


def _with_credentials(access: Access, address: Address) -> Access:
    if address.username is None:
        return access
    if access.username or access.bearer_token or access.bearer_token_file:
        raise ValueError("credentials are given twice: in the address, and beside it")
    return replace(access, username=address.username, password=address.password or access.password)
