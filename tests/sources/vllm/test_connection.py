"""One kept-open connection: what is sent, what comes back, and when it can be used again."""

import http.client
import socket
import threading
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.servers import Handler, answering, closing_after, serving
from vllmwatch.sources.vllm.answer import Head
from vllmwatch.sources.vllm.connection import BrokenAnswerError, Connection

SECONDS = 5.0
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: box\r\n\r\n"
ONE = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx"


def opened(port: int) -> Connection:
    connection = Connection("127.0.0.1", port, None)
    connection.open(time.monotonic() + SECONDS)
    return connection


def ask(connection: Connection, seconds: float = SECONDS) -> tuple[Head, bytes]:
    deadline = time.monotonic() + seconds
    head = connection.get(REQUEST, deadline)
    return head, b"".join(connection.body(deadline))


def answer_to(handler: Handler) -> tuple[bytes, bool]:
    """Return the body, and whether the connection can be used again."""
    with serving(handler) as server:
        connection = opened(server.port)
        try:
            return ask(connection)[1], connection.is_usable()
        finally:
            connection.close()


def test_requests_are_sent_as_they_are_over_one_connection() -> None:
    with serving(answering(ONE)) as server:
        connection = opened(server.port)
        assert [ask(connection)[1] for _ in range(3)] == [b"x"] * 3
        connection.close()
        assert server.requests == [REQUEST.removesuffix(b"\r\n\r\n")] * 3
        assert server.connections == 1


def test_a_connection_is_usable_again_only_after_an_answer_with_an_end() -> None:
    assert answer_to(answering(ONE)) == (b"x", True)
    assert answer_to(answering(ONE.replace(b"OK", b"OK\r\nConnection: close"))) == (b"x", False)
    assert answer_to(closing_after(b"HTTP/1.1 200 OK\r\n\r\nall there is")) == (b"all there is", False)


def test_what_a_server_says_unasked_makes_the_connection_unusable() -> None:
    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(ONE)
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


def test_the_pieces_before_a_fault_come_before_the_error() -> None:
    with serving(closing_after(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nno\r\n")) as server:
        connection = opened(server.port)
        deadline = time.monotonic() + SECONDS
        assert connection.get(REQUEST, deadline).status == 200
        pieces = connection.body(deadline)
        assert next(pieces) == b"abc"
        with pytest.raises(BrokenAnswerError, match="chunk size"):
            next(pieces)
        connection.close()


@pytest.mark.parametrize("answer", [b"", b"garbage\r\n\r\n", ONE[:-1], ONE[:20]])
def test_what_is_no_whole_answer_is_broken(answer: bytes) -> None:
    with pytest.raises(BrokenAnswerError):
        answer_to(closing_after(answer))


def test_a_deadline_is_over_the_whole_answer() -> None:
    def drip(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(100):
            connection.sendall(b"x")
            time.sleep(0.05)

    with serving(drip) as server:
        connection = opened(server.port)
        began = time.monotonic()
        with pytest.raises(TimeoutError):
            ask(connection, seconds=0.3)
        assert 0.2 < time.monotonic() - began < 1
        connection.close()


def test_interrupting_from_another_thread_ends_what_is_under_way() -> None:
    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        time.sleep(SECONDS)

    with serving(handle) as server:
        connection = opened(server.port)
        interrupting = threading.Timer(0.2, connection.interrupt)
        interrupting.start()
        began = time.monotonic()
        with pytest.raises(BrokenAnswerError):
            ask(connection)
        assert time.monotonic() - began < SECONDS / 2
        interrupting.join()
        assert not connection.is_usable()
        with pytest.raises(BrokenAnswerError):
            ask(connection)
        connection.close()


def test_one_that_was_interrupted_before_it_was_opened_is_not_opened() -> None:
    with serving(answering(ONE)) as server:
        connection = Connection("127.0.0.1", server.port, None)
        connection.interrupt()
        with pytest.raises(TimeoutError):
            connection.open(time.monotonic() + SECONDS)
        assert server.connections == 0


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
