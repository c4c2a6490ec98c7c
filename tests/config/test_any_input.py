"""Whatever stands in a file, a variable or an address: an answer or a fault of ours, never another exception."""

import string
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from hypothesis import example, given, settings
from hypothesis import strategies as st

from vllmwatch.catalog.settings import SETTINGS, TARGET_KEYS
from vllmwatch.config import load_config
from vllmwatch.config.file import parse_config
from vllmwatch.errors import ConfigError
from vllmwatch.sources.address import parse_address

Answer = TypeVar("Answer")
KEYS = [setting.key for setting in (*SETTINGS, *TARGET_KEYS)]
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12), st.dates(), st.sampled_from(KEYS)
)
VALUES = st.recursive(
    SCALARS,
    lambda below: st.one_of(st.lists(below, max_size=3), st.dictionaries(st.sampled_from(KEYS), below, max_size=3)),
    max_leaves=8,
)
YAML = st.text(alphabet=string.ascii_lowercase + string.digits + " \n\t:-[]{}#&*!|>'\",.%@`\\\x00é", max_size=60)


def answer_or_fault(ask: Callable[[], Answer]) -> tuple[Answer | None, str]:
    """Return the answer, or the message of the one exception that is allowed."""
    try:
        return ask(), ""
    except ConfigError as error:
        return None, error.message


@given(YAML)
@example("a: &a [*a]")
@example("? [a]\n: b")
@example("<<: 5")
@example("<<: [1]")
@example("!!python/object:os.system x")
@example("!!binary x: 1")
@example("a: !!timestamp x")
@example("a: 2026-99-99")
@example("a: !!int x")
@example("a: !!bool x")
@example("a: !!float x")
@example("a: 0o9:99")
@example("[" * 2000)
@example("{a: " * 2000)
@settings(max_examples=300, deadline=None)
def test_any_text_of_a_file(text: str) -> None:
    answer, fault = answer_or_fault(lambda: parse_config(text, "vllmwatch.yml"))
    if answer is None:
        assert fault.startswith("vllmwatch.yml:")
    else:
        assert all(answer.given(key).where.startswith("vllmwatch.yml:") for key in answer.values)


@given(st.dictionaries(st.sampled_from([setting.key for setting in SETTINGS]), VALUES, max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_value_of_a_setting(options: dict[str, object]) -> None:
    answer, fault = answer_or_fault(lambda: load_config(options, {}, file=None, hostname="here", directory=Path("/x")))
    assert fault if answer is None else (answer.node and answer.series_limit >= 1)


VARIABLES = st.sampled_from([setting.environment for setting in SETTINGS])


@given(st.dictionaries(VARIABLES, st.text(max_size=20), max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_text_of_a_variable(environment: dict[str, str]) -> None:
    answer, fault = answer_or_fault(
        lambda: load_config({}, environment, file=None, hostname="here", directory=Path("/x"))
    )
    if answer is None:
        assert all(line.startswith("VLLMWATCH_") for line in fault.splitlines())
    else:
        assert 0 <= answer.listen_port <= 65_535


ADDRESSES = st.text(alphabet=string.ascii_lowercase + "0189:/.@[]?#%=&-_ \n", max_size=40)


@given(ADDRESSES)
@example("http://[::1")
@example("http://[v1.x]:80")
@example("http://a:b@c:1@d")
@example("//a")
@example("a://")
@settings(max_examples=500, deadline=None)
def test_any_address_is_read_or_refused_and_reads_back_as_itself(text: str) -> None:
    try:
        address = parse_address(text)
    except ValueError as error:
        refusal = str(error)
    else:
        again = parse_address(address.url)
        assert again.url == address.url
        assert (again.host, again.port, again.prefix) == (address.host, address.port, address.prefix)
        return
    assert "no address" in refusal
