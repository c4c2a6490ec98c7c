"""Which address an asker gets for a target."""

import pytest

from tests.exporter.services import target
from vllmwatch.exporter.http_sd import http_sd
from vllmwatch.exporter.watch import Facts, TargetSample


def addresses(url: str, host_header: str | None) -> list[object]:
    sample = TargetSample(target(url), Facts(), None, None, "", 0.1)
    return [group["targets"] for group in http_sd([sample], host_header)]


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("gpu1:9836", "gpu1"),
        ("GPU1.lan", "gpu1.lan"),
        ("10.0.0.7:9836", "10.0.0.7"),
        ("[2001:db8::7]:9836", "[2001:db8::7]"),
        ("host.docker.internal:9836", "host.docker.internal"),
    ],
)
@pytest.mark.parametrize("own", ["127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.3.0.1"])
def test_a_target_on_loopback_is_where_the_exporter_was_reached(header: str, host: str, own: str) -> None:
    assert addresses(f"http://{own}:8000/metrics", header) == [[f"{host}:8000"]]


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "localhost:9836",
        "127.0.0.1:9836",
        "[::1]:9836",
        "0.0.0.0",
        "gpu1:99999",
        "gpu1:",
        "me@gpu1",
        "gpu1/x",
        "gpu1?x=1",
        "http://gpu1",
        "gpu 1",
        "[zz]",
        "gp\u00fc1",
        'gpu1"',
    ],
)
def test_an_asker_on_loopback_and_a_host_that_is_none_change_nothing(header: str | None) -> None:
    assert addresses("http://127.0.0.1:8000/metrics", header) == [["127.0.0.1:8000"]]
    assert addresses("http://[::1]:8000/metrics", header) == [["[::1]:8000"]]


def test_an_address_that_others_can_reach_stays() -> None:
    assert addresses("https://gateway/chat/metrics", "gpu1:9836") == [["gateway:443"]]
    assert addresses("http://172.17.0.2:8000/metrics", "gpu1:9836") == [["172.17.0.2:8000"]]
