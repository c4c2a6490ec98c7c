"""One kept-open HTTP/1.1 connection: as much of the protocol (RFC 9110, 9112) as a GET of a metrics page needs.

requests, urllib3 and the standard library's client cost about eight, two and a half and one and a half times as much
processor time for a page of this size, with which a scrape misses its budget (docs/performance.md).
"""

import re
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_RECEIVE_BYTES = 1 << 16
_MOST_HEAD_BYTES = 1 << 16
_MOST_LINE_BYTES = 1 << 12
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9]\d\d)(?: (.*))?")
_FIELD_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})\s*(?:;.*)?")
_WITHOUT_BODY = frozenset({204, 304})
_FIRST_FINAL_STATUS = 200


class BrokenAnswerError(ConnectionError):
    """The connection ended before the answer did, or what came is not HTTP/1."""


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer. Names of fields are in lower case; values of one name are joined by ", "."""

    status: int
    reason: str
    fields: Mapping[str, str]
    keeps_open: bool
    """Whether the server means to keep the connection open after the body."""


class Connection:
    """A connection to one server; `tls` is None for plain HTTP. The clock is monotonic, in seconds.

    Everything takes until a deadline at most and raises TimeoutError then, OSError or ssl.SSLError where the network or
    the handshake fails, and BrokenAnswerError. After an error it is to be closed. `interrupt` and `close` may be called
    from another thread; what is under way then ends with an error.
    """

    def __init__(
        self, host: str, port: int, tls: ssl.SSLContext | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._clock = clock
        self._socket: socket.socket | None = None
        self._closed = False
        self._poll = select.poll()
        self._pending = b""

    def __del__(self) -> None:
        self.close()

    def open(self, deadline: float) -> None:
        """Connect."""
        opened = socket.create_connection((self._host, self._port), self._remaining(deadline))
        self._socket = opened  # from here on `interrupt` reaches it
        if self._closed:
            self.close()
            raise BrokenAnswerError("closed while it was opened")
        if self._tls is not None:
            secured = self._tls.wrap_socket(opened, server_hostname=self._host, do_handshake_on_connect=False)
            self._socket = opened = secured
            secured.settimeout(self._remaining(deadline))
            secured.do_handshake()
        self._poll.register(opened, select.POLLIN)

    def is_usable(self) -> bool:
        """Whether it is open and quiet; a server that has said anything unasked has closed it, or is about to."""
        return self._socket is not None and not self._pending and not self._poll.poll(0)

    def interrupt(self) -> None:
        """End whatever another thread waits for."""
        interrupted = self._socket
        if interrupted is not None:
            interrupted.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection for good."""
        self._closed = True
        closed, self._socket = self._socket, None
        if closed is not None:
            closed.close()

    def get(self, path: str, fields: Mapping[str, str], deadline: float) -> Head:
        """Ask for a path and return the head of the answer; the body is to be read before the next is asked for.

        Raises ValueError where a field's value cannot be sent.
        """
        lines = [f"GET {path} HTTP/1.1"]
        for name, value in fields.items():
            if "\r" in value or "\n" in value:
                raise ValueError(f"the value of {name} has a line break")
            lines.append(f"{name}: {value}")
        request = "\r\n".join((*lines, "\r\n")).encode("latin-1")
        self._ready(deadline).sendall(request)
        head = self._read_head(deadline)
        while head.status < _FIRST_FINAL_STATUS:
            head = self._read_head(deadline)
        return head

    def body(self, head: Head, deadline: float) -> Iterator[bytes]:
        """Yield the body in pieces as they come, and close the connection where it cannot be used again."""
        if head.status in _WITHOUT_BODY:
            pieces: Iterator[bytes] = iter(())
        elif "transfer-encoding" in head.fields:
            if head.fields["transfer-encoding"].lower() != "chunked":
                raise BrokenAnswerError(f"Transfer-Encoding {head.fields['transfer-encoding']!r} is not known")
            pieces = self._chunks(deadline)
        elif "content-length" in head.fields:
            pieces = self._exactly(_length(head.fields["content-length"]), deadline)
        else:
            pieces = self._until_closed(deadline)
        yield from pieces
        if not head.keeps_open or self._pending:
            self.close()

    def _read_head(self, deadline: float) -> Head:
        received = self._pending or self._receive(deadline)
        while (end := _END_OF_HEAD.search(received)) is None:
            if len(received) > _MOST_HEAD_BYTES:
                raise BrokenAnswerError(f"no end of the head within {_MOST_HEAD_BYTES} bytes")
            received += self._receive(deadline)
        self._pending = received[end.end() :]
        return _parse_head(received[: end.start()].decode("latin-1"))

    def _exactly(self, length: int, deadline: float) -> Iterator[bytes]:
        while length > 0:
            piece = self._take(deadline)
            if len(piece) > length:
                piece, self._pending = piece[:length], piece[length:]
            length -= len(piece)
            yield piece

    def _chunks(self, deadline: float) -> Iterator[bytes]:
        while True:
            match = _CHUNK_SIZE.fullmatch(self._line(deadline))
            if match is None:
                raise BrokenAnswerError("the size of a chunk is not a number")
            size = int(match[1], 16)
            if size == 0:
                break
            yield from self._exactly(size, deadline)
            if self._line(deadline):
                raise BrokenAnswerError("a chunk is longer than its size")
        while self._line(deadline):
            pass  # trailing fields tell nothing that is of use here

    def _until_closed(self, deadline: float) -> Iterator[bytes]:
        while True:
            try:
                piece = self._take(deadline)
            except BrokenAnswerError:
                break
            yield piece
        self.close()

    def _line(self, deadline: float) -> bytes:
        received = self._pending
        while b"\n" not in received:
            if len(received) > _MOST_LINE_BYTES:
                raise BrokenAnswerError(f"a line of over {_MOST_LINE_BYTES} bytes between chunks")
            received += self._receive(deadline)
        line, _, self._pending = received.partition(b"\n")
        return line.removesuffix(b"\r")

    def _take(self, deadline: float) -> bytes:
        """Return what has come, or the next to come."""
        piece, self._pending = self._pending, b""
        return piece or self._receive(deadline)

    def _receive(self, deadline: float) -> bytes:
        received = self._ready(deadline).recv(_RECEIVE_BYTES)
        if not received:
            raise BrokenAnswerError("the connection closed before the answer ended")
        return received

    def _ready(self, deadline: float) -> socket.socket:
        used = self._socket
        if used is None:
            raise BrokenAnswerError("the connection is closed")
        used.settimeout(self._remaining(deadline))
        return used

    def _remaining(self, deadline: float) -> float:
        remaining = deadline - self._clock()
        if remaining <= 0:
            raise TimeoutError("no time was left")
        return remaining


def _parse_head(text: str) -> Head:
    first, *lines = text.split("\n")
    status = _STATUS_LINE.fullmatch(first.rstrip("\r"))
    if status is None:
        raise BrokenAnswerError(f"not an answer of HTTP/1: {first[:80]!r}")
    fields: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _FIELD_NAME.fullmatch(name):
            continue  # what some proxy garbled is not worth a page
        name, value = name.lower(), value.strip(" \t\r")
        fields[name] = f"{fields[name]}, {value}" if name in fields else value
    options = [option.strip() for option in fields.get("connection", "").lower().split(",")]
    keeps_open = "close" not in options and (status[1] == "1" or "keep-alive" in options)
    return Head(int(status[2]), status[3] or "", fields, keeps_open)


def _length(text: str) -> int:
    lengths = {part.strip() for part in text.split(",")}
    if len(lengths) != 1 or not (length := lengths.pop()).isdecimal() or not length.isascii():
        raise BrokenAnswerError(f"Content-Length {text!r} is not a length")
    return int(length)
