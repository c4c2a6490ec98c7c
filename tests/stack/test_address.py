"""Addresses are read as people write them, and a taken port gives way to the next."""

import socket

import pytest

from vllmwatch.errors import ConfigError
from vllmwatch.stack.address import Address, next_free, parse_address
from vllmwatch.stack.http import is_free


@pytest.mark.parametrize(
    ("text", "address", "url"),
    [
        ("127.0.0.1:9836", Address("127.0.0.1", 9836), "http://127.0.0.1:9836"),
        ("0.0.0.0:80", Address("0.0.0.0", 80), "http://127.0.0.1:80"),
        ("[::]:9836", Address("::", 9836), "http://[::1]:9836"),
        (":9836", Address("", 9836), "http://127.0.0.1:9836"),
        ("gpu1:9836", Address("gpu1", 9836), "http://gpu1:9836"),
    ],
)
def test_address_and_where_this_machine_reaches_it(text: str, address: Address, url: str) -> None:
    assert parse_address(text) == address
    assert address.url == url
    assert str(address) == text


@pytest.mark.parametrize("text", ["", "9836", "host:", "host:0", "host:65536", "host:-1", "::1:9836", "host:http"])
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_address(text)
    assert "127.0.0.1:9836" in caught.value.hint


def test_taken_port_gives_way_to_the_next_free_one() -> None:
    taken = {9090, 9091}
    assert next_free(Address("h", 9090), lambda address: address.port not in taken) == Address("h", 9092)


def test_no_free_port_among_those_tried_is_none() -> None:
    tried: list[int] = []

    def taken(address: Address) -> bool:
        tried.append(address.port)
        return False

    assert next_free(Address("h", 65530), taken) is None
    assert tried == [65530, 65531, 65532, 65533, 65534, 65535]


def test_a_port_that_somebody_listens_on_is_not_free() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = Address("127.0.0.1", server.getsockname()[1])
        assert not is_free(address)
    assert is_free(address)
