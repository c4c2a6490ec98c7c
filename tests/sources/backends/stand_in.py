"""A program behind the exporter that answers whatever a test wants: what a real one does not, such as nonsense."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class StandIn:
    """Where it listens, and the paths that it was asked for."""

    url: str
    asked: list[str] = field(default_factory=list)


@contextlib.contextmanager
def answering(answers: Mapping[str, bytes], default: bytes = b"") -> Iterator[StandIn]:
    """Answer each path with 200 and its text."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            stand_in.asked.append(f"{self.command} {self.path}")
            content = answers.get(self.path, default)
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_DELETE = answer  # noqa: N815  the names that http.server asks for

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stand_in = StandIn(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stand_in
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
