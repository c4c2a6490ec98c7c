"""Fetching a page: what is asked, what is accepted, and what every kind of bad server becomes."""

import gzip
import os
import socket
import ssl
import threading
import time
from pathlib import Path

import pytest

from tests.certificates import Certificates, make_certificates
from tests.servers import answering, closing_after, response, serving
from vllmwatch.sources.target import Access, Origin, Target
from vllmwatch.sources.vllm.fetch import Failure, Fetched, Fetcher, Limits, _redirected, _request_head
from vllmwatch.sources.vllm.refused import RefusedError
from vllmwatch.spec.reason import Reason

PAGE = b"# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1.0\n"


def fetcher(url: str, access: Access | None = None, limits: Limits | None = None) -> Fetcher:
    return Fetcher(Target(url, "s", "n", Origin.STATIC, access or Access()), limits or Limits())


def fetch(
    url: str, access: Access | None = None, limits: Limits | None = None, seconds: float = 5
) -> Fetched | Failure:
    one = fetcher(url, access, limits)
    try:
        return one.fetch(time.monotonic() + seconds)
    finally:
        one.close()


def reason(result: Fetched | Failure) -> Reason:
    assert isinstance(result, Failure), result
    return result.reason


def test_a_page_comes_whole_and_over_one_connection() -> None:
    with serving(answering(response(PAGE))) as server:
        one = fetcher(server.url())
        results = [one.fetch(time.monotonic() + 5) for _ in range(3)]
        one.close()
        assert [result.body for result in results if isinstance(result, Fetched)] == [PAGE] * 3
        assert all(isinstance(result, Fetched) and result.complete and not result.openmetrics for result in results)
        assert server.connections == 1


def test_a_kept_connection_that_the_server_closed_is_opened_anew() -> None:
    with serving(closing_after(response(PAGE))) as server:
        one = fetcher(server.url())
        results = [one.fetch(time.monotonic() + 5) for _ in range(3)]
        one.close()
        assert all(isinstance(result, Fetched) and result.body == PAGE for result in results)


def test_openmetrics_is_told_by_its_content_type() -> None:
    answer = response(PAGE + b"# EOF\n", content_type="application/openmetrics-text; version=1.0.0; charset=utf-8")
    with serving(answering(answer)) as server:
        result = fetch(server.url())
    assert isinstance(result, Fetched)
    assert result.openmetrics


@pytest.mark.parametrize(
    ("content_type", "body", "openmetrics"),
    [
        ("", PAGE + b"# EOF\n", True),
        ("", PAGE, False),
        ("", PAGE + b"# EOF is no end\n", False),
        ("text/plain; version=0.0.4", PAGE + b"# EOF\n", False),
    ],
)
def test_a_page_without_a_content_type_is_known_by_its_end(content_type: str, body: bytes, openmetrics: bool) -> None:
    with serving(answering(response(body, content_type=content_type))) as server:
        result = fetch(server.url())
    assert isinstance(result, Fetched)
    assert result.openmetrics is openmetrics


@pytest.mark.parametrize(
    ("access", "header"),
    [
        (Access(bearer_token="abc"), b"Authorization: Bearer abc"),
        (Access(username="u", password="p"), b"Authorization: Basic dTpw"),
    ],
)
def test_credentials_are_sent(access: Access, header: bytes) -> None:
    with serving(answering(response(PAGE))) as server:
        fetch(server.url(), access)
        assert header in server.requests[0]


def test_a_token_file_is_read_at_each_scrape(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("first\n")
    with serving(answering(response(PAGE))) as server:
        one = fetcher(server.url(), Access(bearer_token_file=str(token)))
        one.fetch(time.monotonic() + 5)
        token.write_text("second\n")
        one.fetch(time.monotonic() + 5)
        token.unlink()
        assert reason(one.fetch(time.monotonic() + 5)) is Reason.CREDENTIALS
        one.close()
        assert b"Bearer first" in server.requests[0]
        assert b"Bearer second" in server.requests[1]


def test_a_redirect_on_the_same_host_is_followed() -> None:
    def handle(connection: socket.socket, request: bytes) -> None:
        if b" /metrics/ " in request:
            connection.sendall(response(PAGE))
        else:
            connection.sendall(b"HTTP/1.1 307 Temporary\r\nlocation: /metrics/\r\ncontent-length: 0\r\n\r\n")

    with serving(handle) as server:
        result = fetch(server.url())
        assert isinstance(result, Fetched)
        assert result.body == PAGE
        assert server.connections == 1


@pytest.mark.parametrize("location", ["/metrics", "http://127.0.0.2:9/metrics", "/metrics?again", "//127.0.0.2/"])
def test_redirects_in_loops_and_to_others_are_refused(location: str) -> None:
    answer = f"HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n".encode()
    with serving(answering(answer)) as server:
        assert reason(fetch(server.url())) is Reason.REDIRECT


def test_an_endless_chain_of_redirects_is_cut() -> None:
    count = iter(range(1000))

    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(f"HTTP/1.1 302 F\r\nlocation: /m{next(count)}\r\ncontent-length: 0\r\n\r\n".encode())

    with serving(handle) as server:
        assert reason(fetch(server.url())) is Reason.REDIRECT
        assert len(server.requests) == 4


@pytest.mark.parametrize(
    ("status", "expected"),
    [(401, Reason.UNAUTHORIZED), (403, Reason.UNAUTHORIZED), (404, Reason.HTTP_STATUS), (500, Reason.HTTP_STATUS)],
)
def test_other_statuses_have_their_reason(status: int, expected: Reason) -> None:
    with serving(answering(f"HTTP/1.1 {status} No\r\ncontent-length: 2\r\n\r\nno".encode())) as server:
        result = fetch(server.url())
        assert reason(result) is expected
        assert isinstance(result, Failure)
        assert str(status) in result.detail


def test_nobody_listening_is_refused_and_no_such_name_is_unresolved() -> None:
    with socket.create_server(("127.0.0.1", 0)) as sock:
        port = sock.getsockname()[1]
    assert reason(fetch(f"http://127.0.0.1:{port}/metrics")) is Reason.REFUSED
    assert reason(fetch("http://no-such-host.invalid/metrics")) is Reason.UNRESOLVED


def drip(connection: socket.socket, head: bytes, piece: bytes) -> None:
    connection.sendall(head)
    for _ in range(100):
        connection.sendall(piece)
        time.sleep(0.05)


@pytest.mark.parametrize(
    "head",
    [b"", b"HTTP/1.1 200 OK\r\nx-slow: ", b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n"],
    ids=["nothing", "header", "body"],
)
def test_a_server_that_drips_ends_at_the_deadline(head: bytes) -> None:
    """Each byte comes well before a read would time out, so only a deadline over all of it ends this."""
    with serving(lambda connection, _: drip(connection, head, b"a" if head else b"")) as server:
        one = fetcher(server.url())
        watchdog = threading.Timer(0.6, one.abort)
        watchdog.start()
        started = time.monotonic()
        result = one.fetch(started + 0.5)
        watchdog.join()
        one.close()
        assert reason(result) is Reason.TIMEOUT
        assert time.monotonic() - started < 3


def test_an_endless_body_is_cut_at_the_limit() -> None:
    def handle(connection: socket.socket, _request: bytes) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")
        while True:
            connection.sendall(b"vllm:x 1\n" * 1000)

    with serving(handle) as server:
        assert reason(fetch(server.url(), limits=Limits(body_bytes=1 << 20))) is Reason.TOO_LARGE


def test_a_zipped_page_is_unpacked_and_a_bomb_is_not() -> None:
    encoding = "content-encoding: gzip\r\n"
    with serving(answering(response(gzip.compress(PAGE), extra=encoding))) as server:
        result = fetch(server.url())
        assert isinstance(result, Fetched)
        assert result.body == PAGE
        assert result.complete
    bomb = gzip.compress(bytes(64 << 20))
    with serving(answering(response(bomb, extra=encoding))) as server:
        assert reason(fetch(server.url(), limits=Limits(body_bytes=1 << 20))) is Reason.TOO_LARGE


def test_broken_and_unknown_compression_have_their_reason() -> None:
    for encoding, body in (("gzip", b"not gzip"), ("br", b"x"), ("zstd", b"x")):
        with serving(answering(response(body, extra=f"content-encoding: {encoding}\r\n"))) as server:
            assert reason(fetch(server.url())) is Reason.ENCODING


def test_a_zipped_page_that_ends_early_is_not_complete() -> None:
    page = gzip.compress(b"".join(b"vllm:x%d %d\n" % (n, n * n) for n in range(5000)))
    with serving(answering(response(page[:-500], extra="content-encoding: gzip\r\n"))) as server:
        result = fetch(server.url())
        assert isinstance(result, Fetched)
        assert not result.complete


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfff\r\n",
    ],
    ids=["length", "chunked"],
)
def test_a_body_that_ends_early_is_kept_and_marked(head: bytes) -> None:
    with serving(closing_after(head + PAGE)) as server:
        result = fetch(server.url())
        assert isinstance(result, Fetched)
        assert result.body == PAGE
        assert not result.complete


@pytest.mark.parametrize("answer", [b"", b"garbage\r\n\r\n", b"\x00\x01\x02" * 100])
def test_what_is_not_http_is_a_closed_connection(answer: bytes) -> None:
    with serving(closing_after(answer)) as server:
        assert reason(fetch(server.url())) is Reason.CLOSED


def test_a_page_in_another_charset_is_read_in_it() -> None:
    body = 'vllm:x{m="é"} 1\n'
    answer = response(body.encode("latin-1"), content_type="text/plain; charset=iso-8859-1")
    with serving(answering(answer)) as server:
        result = fetch(server.url())
        assert isinstance(result, Fetched)
        assert result.body == body.encode()


def test_ipv6_and_a_query_are_passed_on() -> None:
    with serving(answering(response(PAGE)), host="::1") as server:
        assert isinstance(fetch(server.url("/metrics?token=a%20b")), Fetched)
        assert server.requests[0].startswith(b"GET /metrics?token=a%20b HTTP/1.1")
        assert f"Host: [::1]:{server.port}".encode() in server.requests[0]


def test_a_redirect_with_unusual_characters_is_escaped() -> None:
    def handle(connection: socket.socket, request: bytes) -> None:
        if request.startswith(b"GET /metrics "):
            connection.sendall(
                "HTTP/1.1 302 F\r\nlocation: /a b%20\u00e9\r\ncontent-length: 0\r\n\r\n".encode("latin-1")
            )
        else:
            connection.sendall(response(PAGE))

    with serving(handle) as server:
        assert isinstance(fetch(server.url()), Fetched)
        assert server.requests[1].startswith(b"GET /a%20b%20%C3%A9 HTTP/1.1\r\n")


def test_another_path_of_the_same_server_can_be_asked() -> None:
    with serving(answering(response(PAGE))) as server:
        one = fetcher(server.url("/vllm/metrics"))
        one.fetch(time.monotonic() + 5, "/vllm/version")
        one.close()
        assert server.requests[0].startswith(b"GET /vllm/version ")


def test_tls_is_verified_against_the_given_authority(certificates: Certificates) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server_cert, certificates.server_key)
    with serving(answering(response(PAGE)), tls=context) as server:
        assert isinstance(fetch(server.url(), Access(ca_file=certificates.ca)), Fetched)
        assert isinstance(fetch(server.url(), Access(insecure_skip_verify=True)), Fetched)
        assert reason(fetch(server.url())) is Reason.TLS
        assert reason(fetch(server.url(), Access(ca_file="/nowhere/ca.pem"))) is Reason.CREDENTIALS


def test_a_client_certificate_lets_us_in(certificates: Certificates) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server_cert, certificates.server_key)
    context.load_verify_locations(certificates.ca)
    context.verify_mode = ssl.CERT_REQUIRED
    with_client = Access(ca_file=certificates.ca, cert_file=certificates.client_cert, key_file=certificates.client_key)
    with serving(answering(response(PAGE)), tls=context) as server:
        assert isinstance(fetch(server.url(), with_client), Fetched)
        assert isinstance(fetch(server.url(), Access(ca_file=certificates.ca)), Failure)


def test_secrets_stay_out_of_details_and_reprs() -> None:
    access = Access(bearer_token="very-secret", username=None)
    with serving(answering(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n")) as server:
        target = Target(server.url(), "s", "n", Origin.STATIC, access)
        result = Fetcher(target, Limits()).fetch(time.monotonic() + 5)
        assert "very-secret" not in repr(result) + repr(target)


def test_a_redirect_to_the_port_that_the_scheme_implies_is_the_same_host() -> None:
    assert _redirected("http://box:80/metrics", "http://box/metrics/") == "http://box/metrics/"
    assert _redirected("https://box/metrics", "https://BOX:443/m") == "https://BOX:443/m"
    for location in ("https://box/metrics", "http://box:81/metrics", "http://[::1/metrics", "http://box:x/"):
        with pytest.raises(RefusedError) as refused:
            _redirected("http://box/metrics", location)
        assert refused.value.reason is Reason.REDIRECT


def test_gzip_of_several_members_is_one_page() -> None:
    body = gzip.compress(PAGE) + gzip.compress(b"vllm:more 1\n")
    with serving(answering(response(body, extra="content-encoding: gzip\r\n"))) as server:
        result = fetch(server.url())
    assert isinstance(result, Fetched)
    assert result.body == PAGE + b"vllm:more 1\n"


@pytest.mark.parametrize("content", ["", " \n", "line one\nline two", "pässword", "tab\tin it"])
def test_a_token_that_cannot_be_sent_is_said_and_not_shown(tmp_path: Path, content: str) -> None:
    token = tmp_path / "token"
    token.write_text(content)
    with serving(answering(response(PAGE))) as server:
        result = fetch(server.url(), Access(bearer_token_file=str(token)))
    assert isinstance(result, Failure)
    assert result.reason is Reason.CREDENTIALS
    assert not any(part in result.detail for part in ("line two", "pässword", "in it"))


def test_a_pipe_or_folder_in_place_of_a_token_holds_nobody_up(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with serving(answering(response(PAGE))) as server:
        for path in (pipe, tmp_path):
            assert reason(fetch(server.url(), Access(bearer_token_file=str(path)))) is Reason.CREDENTIALS


def test_what_a_server_echoes_is_shown_without_the_credentials() -> None:
    with serving(answering(response(PAGE))) as server:
        one = fetcher(server.url(), Access(username="u", password="pa55word"))
        one.fetch(time.monotonic() + 5)
        one.close()
        said = "Authorization: Basic dTpwYTU1d29yZA== pa55word"
        assert one.without_secrets(said) == "Authorization: Basic *** ***"


@pytest.mark.parametrize("length", ["abc", "-1", "100000"])
def test_a_redirect_whose_length_is_none_or_a_lie_ends_at_once(length: str) -> None:
    head = f"HTTP/1.1 302 F\r\nlocation: /other\r\ncontent-length: {length}\r\n\r\n"

    def handle(connection: socket.socket, request: bytes) -> None:
        if b"/metrics " in request:
            connection.sendall(head.encode())
            connection.shutdown(socket.SHUT_RDWR)
        else:
            connection.sendall(response(PAGE))

    with serving(handle) as server:
        result = fetch(server.url(), seconds=2)
    # A length that is none is not HTTP; where a body that is not needed ends early, the redirect stands.
    assert isinstance(result, Fetched) if length.isdigit() else reason(result) is Reason.CLOSED


@pytest.mark.parametrize(("length", "connections"), [(10, 1), (100_000, 2)])
def test_a_long_body_of_a_redirect_is_not_read(length: int, connections: int) -> None:
    head = f"HTTP/1.1 302 F\r\nlocation: /other\r\ncontent-length: {length}\r\n\r\n"

    def handle(connection: socket.socket, request: bytes) -> None:
        if b"/metrics " in request:
            connection.sendall(head.encode() + bytes(length))
        else:
            connection.sendall(response(PAGE))

    with serving(handle) as server:
        assert isinstance(fetch(server.url()), Fetched)
        assert server.connections == connections


@pytest.mark.parametrize(
    ("url", "field"),
    [
        ("http://box:80/m", b"box"),
        ("https://box:443/m", b"box"),
        ("http://box:443/m", b"box:443"),
        ("http://[fe80::1%25eth0]:8000/", b"[fe80::1]:8000"),
        ("http://b\u00fccher.example:8000/", b"xn--bcher-kva.example:8000"),
        ("http://user@box/", b"box"),
    ],
)
def test_the_host_is_named_as_servers_compare_it(url: str, field: bytes) -> None:
    assert b"\r\nHost: " + field + b"\r\n" in _request_head(url)


def test_a_token_with_a_line_break_is_not_sent() -> None:
    with serving(answering(response(PAGE))) as server:
        result = fetch(server.url(), Access(bearer_token="a\r\nX-Evil: b"))
        assert reason(result) is Reason.CREDENTIALS
        assert isinstance(result, Failure)
        assert "Evil" not in result.detail
        assert server.requests == []


def test_queries_stay_out_of_what_is_said_of_redirects() -> None:
    location = "http://127.0.0.2/metrics?key=s3cret"
    with serving(answering(f"HTTP/1.1 302 F\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n".encode())) as server:
        result = fetch(server.url("/metrics?key=s3cret"))
    assert isinstance(result, Failure)
    assert "s3cret" not in result.detail


def test_after_the_end_nothing_is_fetched_and_nothing_stays_open() -> None:
    begun = threading.Event()

    def handle(connection: socket.socket, _request: bytes) -> None:
        begun.set()
        time.sleep(0.5)
        connection.sendall(response(PAGE))

    with serving(handle) as server:
        one = fetcher(server.url())
        results: list[Fetched | Failure] = []
        thread = threading.Thread(target=lambda: results.append(one.fetch(time.monotonic() + 10)))
        thread.start()
        begun.wait(5)
        started = time.monotonic()
        one.end()
        thread.join(5)
        assert time.monotonic() - started < 0.4
        assert reason(results[0]) is Reason.TIMEOUT
        assert reason(one.fetch(time.monotonic() + 10)) is Reason.TIMEOUT
        assert server.connections == 1
        assert one._connection is None


def test_renewed_certificates_are_taken_up(certificates: Certificates, tmp_path: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates.server_cert, certificates.server_key)
    authority = tmp_path / "authority.pem"
    authority.write_text(Path(make_certificates(tmp_path).ca).read_text())
    with serving(closing_after(response(PAGE)), tls=context) as server:
        one = fetcher(server.url(), Access(ca_file=str(authority)))
        assert reason(one.fetch(time.monotonic() + 5)) is Reason.TLS
        authority.write_text(Path(certificates.ca).read_text() + "\n")
        assert isinstance(one.fetch(time.monotonic() + 5), Fetched)
        one.close()
