"""A program that takes what Alertmanager sends."""

import http.server
import json
import threading
from typing import Any


class Receiver:
    """A webhook that keeps what it is sent, and answers `status`."""

    def __init__(self) -> None:
        self.status = 200
        self.messages: list[dict[str, Any]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.messages.append(json.loads(body))
                self.send_response(outer.status)
                self.end_headers()

            def log_message(self, *_: object) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
