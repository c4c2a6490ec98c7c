"""What people write as an address, and the address and name that come of it."""

import pytest

from vllmwatch.sources.address import mask_secrets, parse_address, target_from_address
from vllmwatch.sources.target import Access, Origin, Target


def target(text: str, access: Access | None = None, server: str | None = None, node: str | None = None) -> Target:
    return target_from_address(
        parse_address(text), origin=Origin.STATIC, this_node="here", access=access, server=server, node=node
    )


@pytest.mark.parametrize(
    ("written", "url", "server", "node"),
    [
        ("gpu1:8000", "http://gpu1:8000/metrics", "gpu1:8000", "gpu1"),
        ("http://gpu1:8000", "http://gpu1:8000/metrics", "gpu1:8000", "gpu1"),
        ("http://gpu1:8000/", "http://gpu1:8000/metrics", "gpu1:8000", "gpu1"),
        ("http://gpu1:8000/metrics", "http://gpu1:8000/metrics", "gpu1:8000", "gpu1"),
        ("http://gpu1:8000/metrics/", "http://gpu1:8000/metrics/", "gpu1:8000", "gpu1"),
        ("HTTP://GPU1:8000", "http://gpu1:8000/metrics", "gpu1:8000", "gpu1"),
        ("gpu1", "http://gpu1:80/metrics", "gpu1:80", "gpu1"),
        ("https://gw.example", "https://gw.example:443/metrics", "gw.example:443", "gw.example"),
        ("https://gw.example/a/", "https://gw.example:443/a/metrics", "gw.example:443/a", "gw.example"),
        ("https://gw.example/b/metrics", "https://gw.example:443/b/metrics", "gw.example:443/b", "gw.example"),
        ("http://gpu1:8000/?x=1&y=2", "http://gpu1:8000/metrics?x=1&y=2", "gpu1:8000", "gpu1"),
        ("http://gpu1:8000/mymetrics", "http://gpu1:8000/mymetrics/metrics", "gpu1:8000/mymetrics", "gpu1"),
        (
            "gw/m/模型 b?q=é x",
            "http://gw:80/m/%E6%A8%A1%E5%9E%8B%20b/metrics?q=%C3%A9%20x",
            "gw:80/m/%E6%A8%A1%E5%9E%8B%20b",
            "gw",
        ),
        ("gw/m/%E6%A8%A1/%2f", "http://gw:80/m/%E6%A8%A1/%2f/metrics", "gw:80/m/%E6%A8%A1/%2f", "gw"),
        ("bücher:8000", "http://xn--bcher-kva:8000/metrics", "xn--bcher-kva:8000", "xn--bcher-kva"),
        ("localhost:8000", "http://localhost:8000/metrics", "here:8000", "here"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/metrics", "here:8000", "here"),
        ("127.8.8.8:8000", "http://127.8.8.8:8000/metrics", "here:8000", "here"),
        ("[::1]:8000", "http://[::1]:8000/metrics", "here:8000", "here"),
        ("0.0.0.0:8000", "http://0.0.0.0:8000/metrics", "here:8000", "here"),
        ("http://localhost:8000/vllm", "http://localhost:8000/vllm/metrics", "here:8000/vllm", "here"),
        ("[2001:DB8::1]:8000", "http://[2001:db8::1]:8000/metrics", "[2001:db8::1]:8000", "2001:db8::1"),
        ("10.0.0.5:8000", "http://10.0.0.5:8000/metrics", "10.0.0.5:8000", "10.0.0.5"),
    ],
)
def test_an_address_becomes_a_page_and_a_stable_name(written: str, url: str, server: str, node: str) -> None:
    made = target(written)
    assert (made.url, made.server, made.node) == (url, server, node)


def test_credentials_leave_the_address() -> None:
    made = target("http://me:p%40ss@gpu1:8000/vllm")
    assert made.url == "http://gpu1:8000/vllm/metrics"
    assert (made.access.username, made.access.password) == ("me", "p@ss")
    assert "p@ss" not in repr(made)


def test_a_user_in_the_address_goes_with_a_password_beside_it() -> None:
    made = target("http://me@gpu1:8000", access=Access(password_file="/p"))
    assert (made.access.username, made.access.password, made.access.password_file) == ("me", None, "/p")


def test_credentials_given_twice_are_refused() -> None:
    with pytest.raises(ValueError, match="given twice"):
        target("http://me:x@gpu1:8000", access=Access(bearer_token="t"))


def test_given_names_win() -> None:
    made = target("localhost:8000", server="chat", node="rack7")
    assert (made.server, made.node) == ("chat", "rack7")
    assert target("localhost:8000", node="rack7").server == "rack7:8000"
    assert target("gpu1:8000", node="rack7").server == "gpu1:8000"


@pytest.mark.parametrize(
    "written",
    [
        "",
        " gpu1:8000",
        "gpu1:8000\n",
        "gpu1:8000 ",
        "gpu 1:8000",
        "gpu1\u00a0:8000",
        "gpu1:8000/a\nb",
        "gpu1:8000/\x00",
        "gpu1:8000/\ud800",
        "gpu\udcff:8000",
        "é" * 80 + ":8000",
        "gpu1,gpu2",
        "a=b",
        "ftp://gpu1",
        "http://",
        "http://:8000",
        "gpu1:0",
        "gpu1:99999",
        "gpu1:port",
        "::1:8000",
    ],
)
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="no address"):
        parse_address(written)


@pytest.mark.parametrize("written", ["gpu1:65536", "http://gpu1:99999/a", "[::1]:00070000?a", "gpu1:" + "9" * 9000])
def test_port_that_there_is_not_is_said_to_be_too_great(written: str) -> None:
    with pytest.raises(ValueError, match="its port is greater than 65535"):
        parse_address(written)


@pytest.mark.parametrize(
    "written", ["http://me:s3cret@", "http://me:s3/s3cret@gpu1", "me:s3cret@gpu1:x", "x://me:s3cret@h"]
)
def test_the_refusal_shows_no_credentials(written: str) -> None:
    with pytest.raises(ValueError, match="no address") as caught:
        parse_address(written)
    assert "s3cret" not in str(caught.value)
    assert "s3" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("gpu1:8000/a", "gpu1:8000/a"),
        ("https://me:s3cret@gpu1/a", "https://***@gpu1/a"),
        ("me:s3@s3cret@gpu1", "***@gpu1"),
        ("gpu1/a?key=s3cret&b=1", "gpu1/a?***"),
        ("gpu1/a?key=s3@cret", "***@cret"),
        ("gpu1/a#s3cret", "gpu1/a#***"),
        ("http://me:s3cret@gpu1/?key=s3cret", "http://***@gpu1/?***"),
        ('{"url": "gpu1", "bearer_token": "s3cret"}', "{***"),
        ("gpu1:8000 s3cret", "gpu1:8000 ***"),
        ("bearer_token:s3cret", "bearer_token:***"),
        ("api-key=s3cret", "api-key=***"),
    ],
)
def test_what_is_shown_has_no_secret(given: str, shown: str) -> None:
    assert mask_secrets(given) == shown


@pytest.mark.parametrize("name", ["\ud800", "a\nb", "a\x00"])
@pytest.mark.parametrize("key", ["server", "node"])
def test_names_that_are_no_line_of_text_are_refused(key: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"^{key}: a text "):
        target("gpu1:8000", server=name if key == "server" else None, node=name if key == "node" else None)


def test_an_empty_password_is_refused() -> None:
    with pytest.raises(ValueError, match="password in the address is empty"):
        target("http://me:@gpu1:8000")
