"""Small servers on loopback for tests: pages as vLLM would give them, and answers that no server should give."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator

Handler = Callable[[socket.socket, bytes], None]
"""Gets the connection and the request's head; the connection is closed when it returns."""


def response(body: bytes, *, content_type: str = "text/plain; version=1.0.0; charset=utf-8", extra: str = "") -> bytes:
    """Return a whole HTTP answer of 200."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {len(body)}\r\n{extra}\r\n"
    return head.encode() + body


class Server:
    """A server that gives each request to a handler; it counts connections and requests."""

    def __init__(self, handler: Handler, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> None:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listening = socket.create_server((host, 0), family=family)
        self.port: int = self._listening.getsockname()[1]
        self.host = host
        self._handler = handler
        self._tls = tls
        self._open: list[socket.socket] = []
        self.connections = 0
        self.requests: list[bytes] = []
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def url(self, path: str = "/metrics") -> str:
        """Return an address on this server."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http{'s' if self._tls else ''}://{host}:{self.port}{path}"

    def close(self) -> None:
        """Stop listening and end all connections."""
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()
        self._thread.join(5)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._open.append(connection)
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, ValueError):
            if self._tls is None:
                self._answer(connection)
            else:
                with self._tls.wrap_socket(connection, server_side=True) as wrapped:
                    self._answer(wrapped)

    def _answer(self, connection: socket.socket) -> None:
        pending = b""
        while True:
            while b"\r\n\r\n" not in pending:
                received = connection.recv(65536)
                if not received:
                    return
                pending += received
            request, _, pending = pending.partition(b"\r\n\r\n")
            self.requests.append(request)
            self._handler(connection, request)


@contextlib.contextmanager
def serving(handler: Handler, *, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[Server]:
    """Run a server with a handler while the context lasts."""
    server = Server(handler, tls=tls, host=host)
    try:
        yield server
    finally:
        server.close()


def answering(answer: bytes) -> Handler:
    """Return a handler that gives the same answer to every request, and keeps the connection open."""

    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(answer)

    return handle


def closing_after(answer: bytes) -> Handler:
    """Return a handler that sends something and closes the connection."""

    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(answer)
        connection.shutdown(socket.SHUT_RDWR)

    return handle


def vllm(page: bytes, *, content_type: str = "text/plain; version=1.0.0; charset=utf-8") -> Handler:
    """Return a handler that answers like a vLLM server: its page, its version, and 404 for the rest."""

    def handle(connection: socket.socket, request: bytes) -> None:
        path = request.split(b" ", 2)[1].partition(b"?")[0]
        if path.endswith((b"/metrics", b"/metrics/")):
            connection.sendall(response(page, content_type=content_type))
        elif path.endswith(b"/version"):
            connection.sendall(response(b'{"version":"0.32.0"}', content_type="application/json"))
        else:
            connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")

    return handle
