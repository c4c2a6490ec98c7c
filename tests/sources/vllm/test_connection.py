"""One HTTP/1.1 connection: every way to frame an answer, in pieces of every size."""

import http.client
import socket
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.servers import Handler, answering, closing_after, serving
from vllmwatch.sources.vllm.connection import BrokenAnswerError, Connection, Head

SECONDS = 5.0
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n"
FIELDS = {"Host": "box", "X-Word": "one"}


def opened(port: int) -> Connection:
    connection = Connection("127.0.0.1", port, None)
    connection.open(time.monotonic() + SECONDS)
    return connection


def ask(connection: Connection, path: str = "/metrics") -> tuple[Head, bytes]:
    deadline = time.monotonic() + SECONDS
    head = connection.get(path, FIELDS, deadline)
    return head, b"".join(connection.body(head, deadline))


def answer_to(handler: Handler) -> tuple[Head, bytes, bool]:
    """Return head, body, and whether the connection can be used again."""
    with serving(handler) as server:
        connection = opened(server.port)
        try:
            head, body = ask(connection)
            return head, body, connection.is_usable()
        finally:
            connection.close()


def test_the_request_is_as_it_was_asked_for() -> None:
    with serving(answering(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        connection = opened(server.port)
        assert ask(connection, "/a?b=c")[1] == b""
        connection.close()
        assert server.requests == [b"GET /a?b=c HTTP/1.1\r\nHost: box\r\nX-Word: one"]


def test_a_value_with_a_line_break_is_not_sent() -> None:
    with serving(answering(b"HTTP/1.1 204 No Content\r\n\r\n")) as server:
        connection = opened(server.port)
        with pytest.raises(ValueError, match="X-Bad"):
            connection.get("/", {"X-Bad": "a\r\nX-Evil: b"}, time.monotonic() + SECONDS)
        connection.close()
        assert server.requests == []


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200\nContent-Length: 3\n\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length:3\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1;note=1\r\nc\r\n0\r\n\r\n", b"abc"),
        (CHUNKED + b"Content-Length: 9\r\n\r\n00A\r\n0123456789\r\n0\r\nX: y\r\n\r\n", b"0123456789"),
        (b"HTTP/1.1 200 OK\r\nnot a field\r\n folded\r\nContent-Length: 1\r\n\r\nx", b"x"),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", b"x"),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", b""),
    ],
)  # fmt: skip
def test_an_answer_with_an_end_leaves_the_connection_usable(answer: bytes, body: bytes) -> None:
    head, found, usable = answer_to(answering(answer))
    assert (found, usable) == (body, True)
    assert head.status in {200, 304}


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nConnection: upgrade, close\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx and more than was announced",
    ],
)
def test_a_connection_that_may_not_be_used_again_is_closed(answer: bytes) -> None:
    _, body, usable = answer_to(answering(answer))
    assert (body, usable) == (b"x", False)


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    _, body, usable = answer_to(closing_after(b"HTTP/1.1 200 OK\r\n\r\nall there is"))
    assert (body, usable) == (b"all there is", False)


def test_what_a_server_says_unasked_makes_the_connection_unusable() -> None:
    said = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"

    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(said)
        time.sleep(0.1)
        connection.sendall(b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")

    with serving(handle) as server:
        connection = opened(server.port)
        ask(connection)
        assert connection.is_usable()
        time.sleep(0.4)
        assert not connection.is_usable()
        connection.close()
        assert not connection.is_usable()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nxy",
        b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\nxy",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nx\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 5000,
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000,
    ],
)
def test_what_is_not_http_is_broken(answer: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        answer_to(closing_after(answer))


def test_closing_from_another_thread_ends_what_is_under_way() -> None:
    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        time.sleep(SECONDS)

    with serving(handle) as server:
        connection = opened(server.port)

        def close() -> None:
            connection.interrupt()
            connection.close()

        closing = threading.Timer(0.2, close)
        closing.start()
        began = time.monotonic()
        with pytest.raises(OSError, match=r"closed|descriptor"):
            ask(connection)
        assert time.monotonic() - began < SECONDS / 2
        closing.join()
        with pytest.raises(BrokenAnswerError):
            ask(connection)
        with pytest.raises(BrokenAnswerError):
            connection.open(time.monotonic() + SECONDS)


TOKENS = st.text("abcXYZ-09", min_size=1, max_size=10)


@given(
    body=st.binary(max_size=3000),
    fields=st.dictionaries(TOKENS.map("X-".__add__), st.text("abc 123;=/", max_size=20), max_size=5),
    chunk_bytes=st.none() | st.integers(1, 700),
    cuts=st.lists(st.integers(0, 4000), max_size=6),
)
@settings(max_examples=60, deadline=None)
def test_any_answer_reads_as_the_standard_library_reads_it(
    body: bytes, fields: dict[str, str], chunk_bytes: int | None, cuts: list[int]
) -> None:
    lines = [f"{name}: {value}" for name, value in fields.items()]
    if chunk_bytes is None:
        lines.append(f"Content-Length: {len(body)}")
        framed = body
    else:
        lines.append("Transfer-Encoding: chunked")
        pieces = [body[at : at + chunk_bytes] for at in range(0, len(body), chunk_bytes)]
        framed = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"
    answer = "\r\n".join(["HTTP/1.1 200 OK", *lines, "\r\n"]).encode() + framed
    ends = sorted({min(cut, len(answer)) for cut in cuts} | {0, len(answer)})

    def in_pieces(connection: socket.socket, _request: bytes) -> None:
        for begin, end in pairwise(ends):
            connection.sendall(answer[begin:end])
            time.sleep(0.0005)

    with serving(in_pieces) as server:
        connection = opened(server.port)
        head, found = ask(connection)
        usable = connection.is_usable()
        connection.close()
        standard = http.client.HTTPConnection("127.0.0.1", server.port, timeout=SECONDS)
        standard.request("GET", "/metrics")
        expected = standard.getresponse()
        expected_body = expected.read()
        standard.close()
    assert found == expected_body == body
    assert head.status == expected.status
    for name in fields:
        assert head.fields[name.lower()] == ", ".join(value.strip() for value in expected.headers.get_all(name) or [])
    assert usable
