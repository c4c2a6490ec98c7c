"""A quick server of real-size vLLM pages whose values change between scrapes; also takes what vmagent sends on.

Run as `python -m tests.bench.page_server PORTS [DELAY_MS]`: it listens on that many ports of 127.0.0.1 and prints
them on one line. The last of them answers after DELAY_MS where that is given.
"""

import asyncio
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

PAGE = Path(__file__).parents[1] / "data" / "vllm" / "vllm_0.32.0_loaded.prom"
VARIANTS = 32

_SAMPLE = re.compile(rb"^([^#\s{]+)((?:\{.*\})? )(\S+)$")
_CONSTANT = re.compile(rb"_(?:created|info)$|^process_start_time")


def pages(page: bytes = PAGE.read_bytes(), variants: int = VARIANTS) -> tuple[bytes, ...]:
    """Return the page as it looks in scrape after scrape of a server under load: every counter and gauge moves."""
    lines = page.split(b"\n")
    return tuple(b"\n".join(_moved(line, 1 + step / 37) for line in lines) for step in range(variants))


def _moved(line: bytes, factor: float) -> bytes:
    match = _SAMPLE.match(line)
    if match is None or _CONSTANT.search(match[1]):
        return line
    value = float(match[3])
    moved = float(round(value * factor)) if value.is_integer() else value * factor
    return match[1] + match[2] + repr(moved).encode()


class _Answers(asyncio.Protocol):
    """HTTP/1.1 with kept-open connections, and nothing beyond what the scrapers here send."""

    def __init__(self, answers: Sequence[bytes], delay_seconds: float) -> None:
        self._answers = answers
        self._delay_seconds = delay_seconds
        self._received = b""
        self._scrapes = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, rest = self._received.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            body = int(length[1]) if length else 0
            if len(rest) < body:
                return
            self._received = rest[body:]
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"GET /metrics"):
            self._scrapes += 1
            answer = self._answers[self._scrapes % len(self._answers)]
        elif head.startswith(b"GET /version"):
            answer = _response(b'{"version":"0.32.0"}', b"application/json")
        else:
            answer = b"HTTP/1.1 204 No Content\r\n\r\n"
        if self._delay_seconds:
            asyncio.get_running_loop().call_later(self._delay_seconds, self._write, answer)
        else:
            self._write(answer)

    def _write(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)


def _response(body: bytes, content_type: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: %b\r\nContent-Length: %d\r\n\r\n" % (content_type, len(body))
    return head + body


async def _serve(ports: int, delay_seconds: float) -> None:
    loop = asyncio.get_running_loop()
    # vLLM's own Content-Type.
    answers = [_response(page, b"text/plain; version=1.0.0; charset=utf-8") for page in pages()]
    servers = []
    for number in range(ports):
        delay = delay_seconds if number == ports - 1 else 0.0
        servers.append(await loop.create_server(partial(_Answers, answers, delay), "127.0.0.1", 0))
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve(int(sys.argv[1]), float(sys.argv[2]) / 1000 if len(sys.argv) > 2 else 0.0))
