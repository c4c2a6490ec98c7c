"""One kept-open HTTP/1.1 connection to a server, for GETs whose answers are read piece by piece."""

import contextlib
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterator

from vllmwatch.sources.vllm.answer import Answer, Head

_RECEIVE_BYTES = 1 << 16


class BrokenAnswerError(ConnectionError):
    """The connection ended before the answer did, or what came is not HTTP/1."""


class Connection:
    """A connection to one server; `tls` is None for plain HTTP. The clock is monotonic, in seconds.

    Everything takes until a deadline at most and raises TimeoutError then, OSError where the network or the handshake
    fails, and BrokenAnswerError. After an error it is to be closed. `interrupt` may be called from another thread; what
    is under way then ends with an error.
    """

    def __init__(
        self, host: str, port: int, tls: ssl.SSLContext | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._host = host
        self._port = port
        self._tls = tls
        self._clock = clock
        self._socket: socket.socket | None = None
        self._interrupted = False
        self._poll = select.poll()
        self._answer = Answer()

    def open(self, deadline: float) -> None:
        """Connect."""
        opened = socket.create_connection((self._host, self._port), self._remaining(deadline))
        self._socket = opened  # from here on `interrupt` reaches it
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._tls is not None:
            secured = self._tls.wrap_socket(opened, server_hostname=self._host, do_handshake_on_connect=False)
            self._socket = opened = secured
            secured.settimeout(self._remaining(deadline))
            secured.do_handshake()
        self._poll.register(opened, select.POLLIN)

    def is_usable(self) -> bool:
        """Whether it is open and quiet; a server that has said anything unasked has closed it, or is about to."""
        return self._socket is not None and not self._poll.poll(0)

    def interrupt(self) -> None:
        """End whatever another thread waits for."""
        self._interrupted = True
        interrupted = self._socket
        if interrupted is not None:
            # An error here says that it is closed already, which is what was wanted.
            with contextlib.suppress(OSError):
                interrupted.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection."""
        closed, self._socket = self._socket, None
        if closed is not None:
            closed.close()

    def get(self, request: bytes, deadline: float) -> Head:
        """Send a request and return the head of the answer; the body is to be read before the next is sent."""
        self._answer.begin()
        self._ready(deadline).sendall(request)
        while not self._answer.head_ended:
            self._receive(deadline)
        return self._answer.head()

    def body(self, deadline: float) -> Iterator[bytes]:
        """Yield the body in pieces as they come, and close the connection where it cannot be used again."""
        while True:
            yield from self._answer.take_pieces()
            if self._answer.ended:
                break
            self._receive(deadline)
        if not self._answer.keeps_open:
            self.close()

    def _receive(self, deadline: float) -> None:
        if self._answer.fault is not None:
            raise BrokenAnswerError(self._answer.fault)
        received = self._ready(deadline).recv(_RECEIVE_BYTES)
        if received:
            self._answer.feed(received)
        else:
            self._answer.feed_end()

    def _ready(self, deadline: float) -> socket.socket:
        used = self._socket
        if used is None or self._interrupted:
            raise BrokenAnswerError("the connection is closed")
        used.settimeout(self._remaining(deadline))
        return used

    def _remaining(self, deadline: float) -> float:
        remaining = deadline - self._clock()
        if remaining <= 0 or self._interrupted:
            raise TimeoutError("no time was left")
        return remaining
