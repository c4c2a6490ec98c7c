"""An answer of HTTP/1: every way to frame it, in one piece and byte by byte."""

from dataclasses import dataclass

import pytest

from vllmwatch.sources.vllm.answer import Answer, Head

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: Chunked\r\n\r\n"


@dataclass(frozen=True)
class Read:
    """What became of an answer."""

    head: Head | None
    body: bytes
    ended: bool
    keeps_open: bool
    fault: str | None


def read(answer: bytes, *, piece_bytes: int, then_closes: bool = False) -> Read:
    """Read an answer in pieces of a size."""
    one = Answer()
    body = b""
    for begin in range(0, len(answer), piece_bytes):
        one.feed(answer[begin : begin + piece_bytes])
        body += b"".join(one.take_pieces())
        if one.ended or one.fault:
            break
    if then_closes and not one.ended:
        one.feed_end()
    return Read(one.head() if one.head_ended else None, body, one.ended, one.keeps_open, one.fault)


@pytest.mark.parametrize("piece_bytes", [1, 7, 1 << 20])
@pytest.mark.parametrize(
    ("answer", "status", "body"),
    [
        (OK + b"Content-Length: 3\r\n\r\nabc", 200, b"abc"),
        (OK + b"Content-Length: 0\r\n\r\n", 200, b""),
        (b"HTTP/1.1 200\nContent-Length: 3\n\nabc", 200, b"abc"),
        (OK + b"X: a\r\n b\x01\xe9\r\nContent-Length: 3 \r\n\r\nabc", 200, b"abc"),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", 200, b"x"),
        (OK + b"Connection: Upgrade\r\nUpgrade: h2,h2c\r\nContent-Length: 1\r\n\r\nx", 200, b"x"),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", 304, b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", 204, b""),
        (CHUNKED + b"2\r\nab\r\n1;note=1\r\nc\r\n0\r\n\r\n", 200, b"abc"),
        (CHUNKED + b"3   \r\nabc\r\n0\r\n\r\n", 200, b"abc"),
        (CHUNKED[:-2] + b"Content-Length: 9\r\n\r\n00A\r\n0123456789\r\n0\r\nX: y\r\n\r\n", 200, b"0123456789"),
    ],
)  # fmt: skip
def test_an_answer_with_an_end_of_its_own_keeps_the_connection_open(
    answer: bytes, status: int, body: bytes, piece_bytes: int
) -> None:
    found = read(answer, piece_bytes=piece_bytes)
    assert found.head is not None
    assert found.head.status == status
    assert (found.body, found.ended, found.keeps_open, found.fault) == (body, True, True, None)


@pytest.mark.parametrize("piece_bytes", [1, 1 << 20])
def test_informational_answers_are_passed_over(piece_bytes: int) -> None:
    before = b"HTTP/1.1 100 Continue\r\nX: one\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    found = read(before + OK + b"Content-Length: 1\r\n\r\nx", piece_bytes=piece_bytes)
    assert found == Read(Head(200, "OK", {"content-length": "1"}), b"x", True, True, None)


@pytest.mark.parametrize("piece_bytes", [1, 1 << 20])
def test_fields_are_told_by_names_in_lower_case(piece_bytes: int) -> None:
    answer = OK + b"Content-TYPE: \r\nA:  1 \r\na: 2\r\nContent-Length: 0\r\n\r\n"
    head = read(answer, piece_bytes=piece_bytes).head
    assert head == Head(200, "OK", {"content-type": "", "a": "1, 2", "content-length": "0"})


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Connection: Close\r\nContent-Length: 1\r\n\r\nx",
        OK + b"Connection: upgrade, close\r\nContent-Length: 1\r\n\r\nx",
        b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
        OK + b"Content-Length: 1\r\n\r\nx and more than was announced",
        OK + b"Content-Length: 1\r\n\r\nxHTTP/1.1 408 Request Timeout\r\nX: y\r\nContent-Length: 3\r\n\r\nend",
        OK + b"Content-Length: 1\r\n\r\nxH",
    ],
)
def test_a_connection_that_may_not_be_used_again_is_not_kept_open(answer: bytes) -> None:
    found = read(answer, piece_bytes=1 << 20)
    assert found.head is not None
    assert (found.head.status, found.head.reason, "x" in found.head.fields) == (200, "OK", False)
    assert (found.body, found.ended, found.keeps_open) == (b"x", True, False)


@pytest.mark.parametrize("coding", [b"", b"Transfer-Encoding: identity\r\n"])
def test_a_body_that_names_no_end_ends_with_the_connection(coding: bytes) -> None:
    answer = OK + coding + b"\r\nall there is"
    assert not read(answer, piece_bytes=5).ended
    found = read(answer, piece_bytes=5, then_closes=True)
    assert (found.body, found.ended, found.keeps_open, found.fault) == (b"all there is", True, False, None)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nX: y\r\n", b""),
        (OK + b"Content-Length: 9\r\n\r\nabc", b"abc"),
        (CHUNKED + b"5\r\nabc", b"abc"),
        (CHUNKED + b"3\r\nabc\r\n", b"abc"),
    ],
)
def test_an_answer_cut_off_is_a_fault_and_what_came_is_kept(answer: bytes, body: bytes) -> None:
    found = read(answer, piece_bytes=1 << 20, then_closes=True)
    assert (found.body, found.ended, found.keeps_open) == (body, False, False)
    assert found.fault == "the connection closed before the answer ended"


@pytest.mark.parametrize("piece_bytes", [1, 1 << 20])
@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"garbage\r\n\r\n", b""),
        (b"HTTP/2 200 OK\r\n\r\n", b""),
        (b"HTTP/1.1 2000 OK\r\n\r\n", b""),
        (OK + b"Content-Length: -1\r\n\r\n", b""),
        (OK + b"Content-Length: 1, 2\r\n\r\nxy", b""),
        (OK + b"Content-Length: \xb2\r\n\r\nxy", b""),
        (CHUNKED + b"-1\r\nx\r\n", b""),
        (CHUNKED + b"1\r\nxyz\r\n", b"x"),
        (CHUNKED + b"1" * 5000, b""),
        (b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nxyz", b""),
    ],
)
def test_what_is_not_http_is_a_fault(answer: bytes, body: bytes, piece_bytes: int) -> None:
    found = read(answer, piece_bytes=piece_bytes)
    assert (found.body, found.ended, found.keeps_open) == (body, False, False)
    assert found.fault is not None
    assert "HTTP/1: " in found.fault or "another protocol" in found.fault


@pytest.mark.parametrize(
    "begin", [OK + b"X: ", OK + b"X", b"HTTP/1.1 100 Go\r\n\r\n", CHUNKED + b"3;note=", CHUNKED + b"1\r\na\r\n0\r\nX: "]
)
def test_what_goes_on_without_a_body_is_cut(begin: bytes) -> None:
    more = b"y" * 1000 if not begin.startswith(b"HTTP/1.1 100") else begin * 40
    one = Answer()
    one.feed(begin)
    for fed in range(0, 1 << 20, len(more)):  # noqa: B007
        one.feed(more)
        if one.fault is not None:
            break
    assert one.fault is not None
    assert one.fault.endswith("bytes came without a body")
    assert 60_000 < fed < 70_000


def test_one_answer_comes_after_the_other() -> None:
    one = Answer()
    for number in (b"1", b"2"):
        one.begin()
        one.feed(OK + b"A: %b\r\nContent-Length: 1\r\n\r\n%b" % (number, number))
        assert one.take_pieces() == [number]
        assert one.head().fields["a"] == number.decode()
        assert one.keeps_open
