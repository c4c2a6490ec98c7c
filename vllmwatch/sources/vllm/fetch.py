"""One GET of a vLLM server's page, bounded in time, size and redirects; a failure is a value.

The standard library's client is used. requests and urllib3, which stand on it, cost about six and one and a half times
as much processor time for a page of this size; docs/performance.md has the figures.
"""

import contextlib
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, IncompleteRead
from urllib.parse import quote, urljoin, urlsplit

from vllmwatch.sources.address import public_url
from vllmwatch.sources.target import Target
from vllmwatch.sources.vllm.access import authorization, certificates_stamp, tls_context
from vllmwatch.sources.vllm.body import as_utf8, is_openmetrics, unpacker
from vllmwatch.sources.vllm.refused import RefusedError
from vllmwatch.spec.reason import Reason

_ACCEPT = "text/plain;version=0.0.4;q=1,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1"
_CHUNK_BYTES = 1 << 16
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
        self._connection: HTTPConnection | None = None
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
        sock = connection.sock if connection is not None else None
        if sock is not None:
            # An error here says that it is closed already, which is what was wanted.
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

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
            response = self._request(url, deadline)
            if response.status not in _REDIRECTS:
                return self._read(response, deadline)
            location = _redirected(url, response.headers.get("Location", ""))
            self._finish(response)
            if location in seen:
                raise RefusedError(Reason.REDIRECT, f"{public_url(url)} redirects in a loop")
            seen.add(location)
            url = location
        raise RefusedError(Reason.REDIRECT, f"more than {self._limits.redirects} redirects in a row")

    def _request(self, url: str, deadline: float) -> HTTPResponse:
        parts = urlsplit(url)
        path = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=_URL_CHARACTERS)
        access = authorization(self._target.access)
        self._secrets = access.secrets
        headers = {
            "Accept": _ACCEPT,
            "Accept-Encoding": "gzip, identity",
            "User-Agent": "vllmwatch",
            **access.headers,
        }
        if self._connection is not None and not _is_quiet(self._connection):
            self.close()
        reused = self._connection is not None
        try:
            return self._send(path, headers, deadline)
        except (HTTPException, ConnectionError):
            # A kept-open connection may have been closed by the server in the meantime.
            if not reused or self._aborted or self._clock() >= deadline:
                raise
            self.close()
            return self._send(path, headers, deadline)

    def _send(self, path: str, headers: dict[str, str], deadline: float) -> HTTPResponse:
        remaining = deadline - self._clock()
        if remaining <= 0 or self._aborted or self._ended:
            raise TimeoutError("no time was left")
        connection = self._connection or self._connect()
        self._connection = connection
        connection.timeout = remaining
        if connection.sock is not None:
            connection.sock.settimeout(remaining)
        connection.request("GET", path, headers=headers)
        return connection.getresponse()

    def _connect(self) -> HTTPConnection:
        parts = urlsplit(self._target.url)
        host = parts.hostname or ""
        if parts.scheme == "https":
            stamp = certificates_stamp(self._target.access)
            if self._tls is None or stamp != self._tls_stamp:
                self._tls, self._tls_stamp = tls_context(self._target.access), stamp
            return HTTPSConnection(host, parts.port or _PORTS["https"], context=self._tls)
        return HTTPConnection(host, parts.port or _PORTS["http"])

    def _read(self, response: HTTPResponse, deadline: float) -> tuple[bytes, str, bool]:
        if response.status != _OK:
            self.close()
            reason = Reason.UNAUTHORIZED if response.status in _REFUSALS else Reason.HTTP_STATUS
            raise RefusedError(reason, f"HTTP {response.status} {response.reason or ''}".rstrip())
        unpack = unpacker(response.headers.get("Content-Encoding", ""), self._limits.body_bytes)
        chunks: list[bytes] = []
        size = 0
        complete = True
        try:
            for chunk in _pieces(response):
                unpacked = unpack.unpack(chunk)
                size += len(unpacked)
                if size > self._limits.body_bytes:
                    raise RefusedError(Reason.TOO_LARGE, f"the body is over {self._limits.body_bytes} bytes")
                chunks.append(unpacked)
                if self._clock() >= deadline:
                    raise TimeoutError(f"{size} bytes came before the deadline")
        except (HTTPException, ConnectionError):
            if self._aborted:
                raise
            complete = False
        complete = complete and unpack.ended
        response.close()
        if not complete or response.will_close:
            self.close()
        return b"".join(chunks), response.headers.get("Content-Type", "").lower(), complete

    def _finish(self, response: HTTPResponse) -> None:
        """Read away a redirect's short body, so that the connection can be used again."""
        length = response.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length) < _CHUNK_BYTES:
            response.read()
            response.close()
        else:
            self.close()


def _is_quiet(connection: HTTPConnection) -> bool:
    """Whether a kept-open connection can be used: the server has neither closed it nor said anything unasked."""
    if connection.sock is None:
        return False
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return not poll.poll(0)


def _pieces(response: HTTPResponse) -> Iterator[bytes]:
    """Yield a body as it comes; raises IncompleteRead where it ends before the length that was announced."""
    left = response.length
    while left is None or left > 0:
        piece = response.read1(_CHUNK_BYTES if left is None else min(left, _CHUNK_BYTES))
        if not piece:
            if left is not None:
                raise IncompleteRead(b"", left)
            return
        if left is not None:
            left -= len(piece)
        yield piece


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
    ((ConnectionError, HTTPException), Reason.CLOSED),
    ((OSError,), Reason.UNREACHABLE),
)
