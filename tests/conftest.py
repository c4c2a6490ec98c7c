"""Fixtures that several folders of tests share live in plugins, each beside what it serves."""

import signal
from collections.abc import Iterator

import pytest

pytest_plugins = ["tests.certificates", "tests.fake_nvml.plugin", "tests.real.fixtures", "tests.required_peers"]


@pytest.fixture
def hangup_as_usual() -> Iterator[None]:
    """Have a hangup do what it does by itself, though the tests may run under nohup; programs inherit it."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)
