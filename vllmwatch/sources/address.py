"""Addresses of metrics pages: from what people write to one Target with a stable name."""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from vllmwatch.sources.target import Access, Origin, Target
from vllmwatch.sources.unicode_text import require_line

METRICS_PATH = "/metrics"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_USER_INFO = re.compile(r"//.*@", re.DOTALL)
# A query may hold a token; what follows a character that no address has may be the rest of a mapping, written wrongly.
_TAIL = re.compile(r"([?#]|[\s\"'{}]).*", re.DOTALL)
_NAMED_SECRET = re.compile(r"((?:token|password|secret|api[_-]?key)\s*[:=]).*", re.DOTALL | re.IGNORECASE)
# Blanks at either end, control characters, and surrogates, which are halves of characters and no text.
_NO_TEXT = re.compile(r"^\s|\s$|[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")
_HOST = re.compile(r"[\w.-]+|[0-9a-f:.]+(%[\w.-]+)?", re.IGNORECASE | re.ASCII)
_BLANK = re.compile(r"\s")
_PORT = re.compile(r"(?:[^/?#]*//)?[^/?#]*:(?P<digits>[0-9]+)(?:[/?#]|$)")
_PORT_LIMIT = 65_535
_TO_ENCODE = re.compile(r"[^\x21-\x7e]+")


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


def mask_secrets(address: str) -> str:
    """Return an address, or what was given for one, as it may be shown: no credentials, no query, no named secret."""
    shown = address if "://" in address else f"//{address}"
    for pattern, mask in ((_USER_INFO, "//***@"), (_TAIL, r"\1***"), (_NAMED_SECRET, r"\1***")):
        shown = pattern.sub(mask, shown, count=1)
    return shown.removeprefix("//")


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

    With `exact_path` the path is taken as it stands. Blanks and characters beyond ASCII are percent-encoded in path
    and query.

    Raises ValueError with what is wrong; the text never shows secrets.
    """
    shown = mask_secrets(text)
    if not text or _NO_TEXT.search(text):
        raise ValueError(f"{shown!r} is no address: it is empty, or has blanks or characters in it that no address has")
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        port = parts.port
    except ValueError:
        raise ValueError(f"{shown!r} is no address: {_why_unreadable(text)}") from None
    if parts.scheme not in _DEFAULT_PORTS:
        raise ValueError(f"{shown!r} is no address of a metrics page: it starts with neither http:// nor https://")
    if _BLANK.search(parts.netloc):
        raise ValueError(f"{shown!r} is no address: it has blanks in its host or port")
    if not parts.hostname or port == 0:
        raise ValueError(f"{shown!r} is no address: it has no {'host' if port != 0 else 'usable port'}")
    path = _encoded(parts.path)
    if not exact_path and not path.rstrip("/").endswith(METRICS_PATH):
        path = path.rstrip("/") + METRICS_PATH
    host = _ascii_host(parts.hostname)
    if host is None:
        raise ValueError(f"{shown!r} is no address: its host is no name and no IP address")
    return _from_parts(parts, host, port or _DEFAULT_PORTS[parts.scheme], path)


def _why_unreadable(text: str) -> str:
    """Say why urlsplit refuses a text: a port that there is not, or something else."""
    port = _PORT.match(text)
    digits = port["digits"].lstrip("0") if port is not None else ""
    # A number of many digits is judged by its length: Python does not even read it.
    if len(digits) > len(str(_PORT_LIMIT)) or int(digits or 0) > _PORT_LIMIT:
        return f"its port is greater than {_PORT_LIMIT}, the greatest that there is"
    return "http://host:port is asked for, an IPv6 address in brackets"


def _ascii_host(host: str) -> str | None:
    """Return a host as DNS knows it, or None for what can be none."""
    try:
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        return None
    return host if _HOST.fullmatch(host) else None


def _from_parts(parts: SplitResult, host: str, port: int, path: str) -> Address:
    return Address(
        scheme=parts.scheme,
        host=host.lower(),
        port=port,
        path=path,
        query=_encoded(parts.query),
        username=None if parts.username is None else unquote(parts.username),
        password=None if parts.password is None else unquote(parts.password),
    )


def _encoded(text: str) -> str:
    """Percent-encode what may not stand in an address, and nothing else: what was encoded before stays as it is."""
    return _TO_ENCODE.sub(lambda match: quote(match[0]), text)


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
    Raises ValueError when both the address and `access` hold credentials, or a name is no text on one line.
    """
    for key, name in (("server", server), ("node", node)):
        try:
            require_line(name or "")
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
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
    if address.password == "":
        raise ValueError("the password in the address is empty")
    return replace(access, username=address.username, password=address.password or access.password)


def public_url(url: str) -> str:
    """Return an address without its query, which may hold a secret."""
    return urlunsplit(urlsplit(url)._replace(query="", fragment=""))
