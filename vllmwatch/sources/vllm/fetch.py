"""One GET of a vLLM server's page, bounded in time, size and redirects; a failure is a value."""

import socket
import ssl
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from vllmwatch.sources.address import public_url
from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.access import authorization, certificates_stamp, tls_context
from vllmwatch.sources.vllm.answer import Head
from vllmwatch.sources.vllm.body import as_utf8, is_openmetrics, unpacker
from vllmwatch.sources.vllm.connection import Connection
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

    One fetch at a time. `abort` and `end` may be called from another thread: both end the fetch under way, whatever it
    waits for; after `end` there is no other. The clock is monotonic, in seconds.
    """

    def __init__(self, target: Target, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._target = target
        self._limits = limits
        self._clock = clock
        self._connection: Connection | None = None
        self._tls: ssl.SSLContext | None = None
        self._tls_stamp: tuple[object, ...] = ()
        self._aborted = False
        self._ended = False
        self._fetching = threading.Lock()
        self._secrets: tuple[str, ...] = ()

    def fetch(self, deadline: float, path: str | None = None) -> Fetched | Failure:
        """Fetch the target's page, or another path of the same server, before the deadline."""
        with self._fetching:
            result = self._fetch(deadline, path)
        if self._ended:
            self._close_if_idle()
        return result

    def _fetch(self, deadline: float, path: str | None) -> Fetched | Failure:
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
            connection.interrupt()

    def end(self) -> None:
        """End the fetch under way and refuse all others; the connection is closed as soon as nobody uses it."""
        self._ended = True
        self.abort()
        self._close_if_idle()

    def _close_if_idle(self) -> None:
        if self._fetching.acquire(blocking=False):
            self.close()
            self._fetching.release()

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
            self._finish(connection, deadline)
            if location in seen:
                raise RefusedError(Reason.REDIRECT, f"{public_url(url)} redirects in a loop")
            seen.add(location)
            url = location
        raise RefusedError(Reason.REDIRECT, f"more than {self._limits.redirects} redirects in a row")

    def _get(self, url: str, deadline: float) -> tuple[Connection, Head]:
        request = self._request(url)
        kept = self._connection
        if kept is not None and kept.is_usable():
            try:
                return kept, kept.get(request, deadline)
            except OSError:
                # The server may have closed it at the very moment.
                if self._aborted or self._clock() >= deadline:
                    raise
        self.close()
        self._connection = connection = self._connect()
        if self._aborted or self._ended:
            raise TimeoutError("no time was left")
        connection.open(deadline)
        return connection, connection.get(request, deadline)

    def _request(self, url: str) -> bytes:
        head = self._own_head if url == self._target.url else _request_head(url)
        access = authorization(self._target.access)
        self._secrets = access.secrets
        for name, value in access.headers.items():
            if not value.isascii() or not value.isprintable():
                raise RefusedError(Reason.CREDENTIALS, f"{name} cannot be sent: it is not one line of ASCII characters")
            head += f"{name}: {value}\r\n".encode("ascii")
        return head + b"\r\n"

    @cached_property
    def _own_head(self) -> bytes:
        return _request_head(self._target.url)

    def _connect(self) -> Connection:
        parts = urlsplit(self._target.url)
        if parts.scheme == "https":
            stamp = certificates_stamp(self._target.access)
            if self._tls is None or stamp != self._tls_stamp:
                self._tls, self._tls_stamp = tls_context(self._target.access), stamp
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
            for piece in connection.body(deadline):
                unpacked = unpack.unpack(piece)
                size += len(unpacked)
                if size > self._limits.body_bytes:
                    raise RefusedError(Reason.TOO_LARGE, f"the body is over {self._limits.body_bytes} bytes")
                pieces.append(unpacked)
        except ConnectionError:
            if self._aborted:
                raise
            complete = False
        complete = complete and unpack.ended
        if not complete:
            self.close()
        return b"".join(pieces), head.fields.get("content-type", "").lower(), complete

    def _finish(self, connection: Connection, deadline: float) -> None:
        """Read away a redirect's short body, so that the connection can be used again."""
        size = 0
        try:
            for piece in connection.body(deadline):
                size += len(piece)
                if size > _MOST_REDIRECT_BODY_BYTES:
                    break
            else:
                return
        except ConnectionError:
            pass  # where it leads to is known all the same
        self.close()


def _request_head(url: str) -> bytes:
    """Return the head of a GET for an address, but for what lets us in, and the empty line at its end."""
    parts = urlsplit(url)
    path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_URL_CHARACTERS)
    lines = (
        f"GET {path} HTTP/1.1",
        f"Host: {_host_field(parts)}",
        f"Accept: {_ACCEPT}",
        "Accept-Encoding: gzip, identity",
        "User-Agent: vllmwatch",
        "",
    )
    return "\r\n".join(lines).encode("ascii")


def _host_field(parts: SplitResult) -> str:
    """Return host and port as servers compare them: in ASCII, without a port that the scheme implies."""
    host = (parts.hostname or "").partition("%")[0]
    host = f"[{host}]" if ":" in host else host.encode("ascii" if host.isascii() else "idna").decode("ascii")
    return host if parts.port in {None, _PORTS[parts.scheme]} else f"{host}:{parts.port}"


def _redirected(url: str, location: str) -> str:
    """Return where a redirect leads; raises RefusedError where that is another host, or nowhere."""
    try:
        target = urljoin(url, quote(location, safe=_URL_CHARACTERS))
        same = _place(target) == _place(url)
    except ValueError as error:
        raise RefusedError(Reason.REDIRECT, f"{public_url(url)} redirects to what is no address") from error
    if not same:
        raise RefusedError(Reason.REDIRECT, f"{public_url(url)} redirects to another host, {public_url(target)}")
    return target


def _place(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port, with the scheme's own port where none is written."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _explain(error: Exception) -> tuple[Reason, str]:
    if isinstance(error, RefusedError):
        return error.reason, error.detail
    for kinds, reason in _EXPLANATIONS:
        if isinstance(error, kinds):
            return reason, f"{type(error).__name__}: {error}"
    return Reason.INTERNAL, type(error).__name__


_EXPLANATIONS: tuple[tuple[tuple[type[Exception], ...], Reason], ...] = (
    # UnicodeError: a name that no host can have.
    ((socket.gaierror, UnicodeError), Reason.UNRESOLVED),
    ((ssl.SSLError,), Reason.TLS),
    ((ConnectionRefusedError,), Reason.REFUSED),
    ((TimeoutError,), Reason.TIMEOUT),
    ((ConnectionError,), Reason.CLOSED),
    ((OSError,), Reason.UNREACHABLE),
)
