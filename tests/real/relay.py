"""A relay before a real server that keeps what it passed on, so that two readings can be of the very same page."""

import contextlib
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field

import requests

from tests.servers import Server, serving


@dataclass(slots=True)
class Relay:
    """`url` stands for the server; `pages` are the metrics pages that were passed on, with their content types."""

    upstream: str
    pages: list[tuple[str, str]] = field(default_factory=list)
    server: Server | None = None

    @property
    def port(self) -> int:
        """The port that stands for the server."""
        assert self.server is not None
        return self.server.port

    def url(self, path: str = "/metrics") -> str:
        """Return an address on the relay."""
        assert self.server is not None
        return self.server.url(path)

    def handle(self, connection: socket.socket, request: bytes) -> None:
        """Pass one request on."""
        path = request.split(b" ", 2)[1].decode()
        accept = next(
            (
                line.partition(b":")[2].decode().strip()
                for line in request.split(b"\r\n")
                if line.startswith(b"Accept:")
            ),
            "*/*",
        )
        try:
            answer = requests.get(self.upstream + path, headers={"Accept": accept}, timeout=20)
        except requests.RequestException:
            return connection.close()
        content_type = answer.headers.get("Content-Type", "")
        if "/metrics" in path:
            self.pages.append((answer.text, content_type))
        head = f"HTTP/1.1 {answer.status_code} X\r\ncontent-type: {content_type}\r\n"
        connection.sendall(f"{head}content-length: {len(answer.content)}\r\n\r\n".encode() + answer.content)
        return None


@contextlib.contextmanager
def relaying(upstream: str) -> Iterator[Relay]:
    """Run a relay before a server while the context lasts."""
    relay = Relay(upstream)
    with serving(relay.handle) as server:
        relay.server = server
        yield relay
