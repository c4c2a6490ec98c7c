"""One GET of a vLLM server's page, bounded in time, size and redirects; a failure is a value."""

import contextlib
import socket
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.access import authorization, tls_context
from vllmwatch.sources.vllm.body import as_utf8, is_openmetrics, unpacker
from vllmwatch.sources.vllm.connection import Connection, Head
from vllmwatch.sources.vllm.refused import RefusedError
from vllmwatch.spec.reason import Reason

_ACCEPT = "text/plain;version=0.0.4;q=1,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"
_MOST_REDIRECT_BODY_BYTES = 1 << 16
_OK = 200
_PORTS = {"http": 80, "https": 443}
# What an address may have unchanged; the rest is percent-encoded.
_URL_CHARACTERS = "%/:=&?~#+!$,;'@()*[]-._"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_REFUSALS = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class Limits:
    """What one fetch may cost: bytes of the body, unpacked, and redirects in a row."""

    body_bytes: int = 32 << 20
    redirects: int = 3


@dataclass(frozen=True, slots=True)
class Fetched:
    """A page as it came. `complete` is false where the connection closed before the body's announced end."""

    body: bytes
    openmetrics: bool
    complete: bool
    duration_seconds: float
    url: str


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no page: a reason of the fixed list, and what exactly happened, for people."""

    reason: Reason
    detail: str
    duration_seconds: float


class Fetcher:
    """Fetches from one target over one kept-open connection.

    One fetch at a time. `abort` may be called from another thread: it ends the fetch under way, whatever it waits
    for. The clock is monotonic, in seconds.
    """

    def __init__(self, target: Target, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._target = target
        self._limits = limits
        self._clock = clock
        self._connection: Connection | None = None
        self._tls: ssl.SSLContext | None = None
        self._aborted = False
        self._secrets: tuple[str, ...] = ()

    def fetch(self, deadline: float, path: str | None = None) -> Fetched | Failure:
        """Fetch the target's page, or another path of the same server, before the deadline."""
        started = self._clock()
        self._aborted = False
        url = self._target.url if path is None else urljoin(self._target.url, path)
        try:
            body, content_type, complete = self._follow(url, deadline)
        except Exception as error:  # noqa: BLE001  whatever a server does to us, it is data
            self.close()
            reason, detail = _explain(error)
            detail = self.without_secrets(detail)
            if self._aborted or self._clock() >= deadline:
                reason = Reason.TIMEOUT
            return Failure(reason, detail, self._clock() - started)
        duration = self._clock() - started
        if self._aborted:
            return Failure(Reason.TIMEOUT, "no whole answer came before the deadline", duration)
        text = as_utf8(body, content_type)
        return Fetched(text, is_openmetrics(text, content_type), complete, duration, url)

    def without_secrets(self, text: str) -> str:
        """Return what a server or a library said, with the credentials that were sent taken out."""
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def abort(self) -> None:
        """End the fetch under way from another thread."""
        self._aborted = True
        connection = self._connection
        if connection is not None:
            # An error here says that it is closed already, which is what was wanted.
            with contextlib.suppress(OSError):
                connection.interrupt()

    def close(self) -> None:
        """Close the connection; the next fetch opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _follow(self, url: str, deadline: float) -> tuple[bytes, str, bool]:
        seen = {url}
        for _ in range(self._limits.redirects + 1):
            connection, head = self._get(url, deadline)
            if head.status not in _REDIRECTS:
                return self._read(connection, head, deadline)
            location = _redirected(url, head.fields.get("location", ""))
            self._finish(connection, head, deadline)
            if location in seen:
                raise RefusedError(Reason.REDIRECT, f"{_shown(url)} redirects in a loop")
            seen.add(location)
            url = location
        raise RefusedError(Reason.REDIRECT, f"more than {self._limits.redirects} redirects in a row")

    def _get(self, url: str, deadline: float) -> tuple[Connection, Head]:
        parts = urlsplit(url)
        target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_URL_CHARACTERS)
        access = authorization(self._target.access)
        self._secrets = access.secrets
        fields = {
            "Host": _host_field(parts.netloc),
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip, identity",
            "User-Agent": "vllmwatch",
            **access.headers,
        }
        kept = self._connection
        if kept is not None and kept.is_usable():
            try:
                return kept, kept.get(target, fields, deadline)
            except OSError:
                # The server may have closed it at the very moment.
                if self._aborted or self._clock() >= deadline:
                    raise
        self.close()
        self._connection = connection = self._connect()
        connection.open(deadline)
        return connection, connection.get(target, fields, deadline)

    def _connect(self) -> Connection:
        parts = urlsplit(self._target.url)
        if parts.scheme == "https" and self._tls is None:
            self._tls = tls_context(self._target.access)
        return Connection(parts.hostname or "", parts.port or _PORTS[parts.scheme], self._tls, self._clock)

    def _read(self, connection: Connection, head: Head, deadline: float) -> tuple[bytes, str, bool]:
        if head.status != _OK:
            self.close()
            reason = Reason.UNAUTHORIZED if head.status in _REFUSALS else Reason.HTTP_STATUS
            raise RefusedError(reason, f"HTTP {head.status} {head.reason}".rstrip())
        unpack = unpacker(head.fields.get("content-encoding", ""), self._limits.body_bytes)
        pieces: list[bytes] = []
        size = 0
        complete = True
        try:
            for piece in connection.body(head, deadline):
                unpacked = unpack.unpack(piece)
                size += len(unpacked)
                if size > self._limits.body_bytes:
                    raise RefusedError(Reason.TOO_LARGE, f"the body is over {self._limits.body_bytes} bytes")
                pieces.append(unpacked)
        except (ConnectionError, ssl.SSLError):
            if self._aborted:
                raise
            complete = False
        complete = complete and unpack.ended
        if not complete:
            self.close()
        return b"".join(pieces), head.fields.get("content-type", "").lower(), complete

    def _finish(self, connection: Connection, head: Head, deadline: float) -> None:
        """Read away a redirect's short body, so that the connection can be used again."""
        size = 0
        try:
            for piece in connection.body(head, deadline):
                size += len(piece)
                if size > _MOST_REDIRECT_BODY_BYTES:
                    break
            else:
                return
        except ConnectionError:
            pass  # where it leads to is known all the same
        self.close()


def _redirected(url: str, location: str) -> str:
    """Return where a redirect leads; raises RefusedError where that is another host, or nowhere."""
    try:
        target = urljoin(url, quote(location, safe=_URL_CHARACTERS))
        same = _place(target) == _place(url)
    except ValueError as error:
        raise RefusedError(Reason.REDIRECT, f"{_shown(url)} redirects to what is no address") from error
    if not same:
        raise RefusedError(Reason.REDIRECT, f"{_shown(url)} redirects to another host, {_shown(target)}")
    return target


def _place(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port, with the scheme's own port where none is written."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _host_field(netloc: str) -> str:
    host = netloc.rpartition("@")[2]
    if host.isascii():
        return host
    name, colon, port = host.partition(":")
    return name.encode("idna").decode("ascii") + colon + port


def _shown(url: str) -> str:
    """Return an address for people, without the query, which may hold a secret."""
    return url.partition("?")[0]


def _explain(error: Exception) -> tuple[Reason, str]:
    if isinstance(error, RefusedError):
        return error.reason, error.detail
    for kind, reason in _EXPLANATIONS:
        if isinstance(error, kind):
            return reason, f"{type(error).__name__}: {error}"
    return Reason.INTERNAL, type(error).__name__


# The first that fits: several of these are OSErrors.
_EXPLANATIONS: tuple[tuple[type[Exception], Reason], ...] = (
    (socket.gaierror, Reason.UNRESOLVED),
    (TimeoutError, Reason.TIMEOUT),
    (ssl.SSLError, Reason.TLS),
    (ConnectionRefusedError, Reason.REFUSED),
    (ConnectionError, Reason.CLOSED),
    (OSError, Reason.UNREACHABLE),
)
