"""SIGINT and SIGTERM ask to stop; SIGHUP asks to reload, or to stop where it says that the terminal is gone."""

import os
import signal
from collections.abc import Iterator

import pytest

from vllmwatch.stack.signals import requests_by_signal


@pytest.fixture(autouse=True)
def handlers_as_before() -> Iterator[None]:
    """See to it that no test leaves a handler behind."""
    before = signal.getsignal(signal.SIGHUP)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt_and_termination_ask_to_stop(number: signal.Signals) -> None:
    with requests_by_signal(at_terminal=False) as requests:
        os.kill(os.getpid(), number)
        assert (requests.stop.is_set(), requests.reload.is_set()) == (True, False)


def test_hangup_without_a_terminal_asks_to_reload() -> None:
    with requests_by_signal(at_terminal=False) as requests:
        os.kill(os.getpid(), signal.SIGHUP)
        assert (requests.stop.is_set(), requests.reload.is_set()) == (False, True)


@pytest.mark.usefixtures("hangup_as_usual")
def test_hangup_at_a_terminal_asks_to_stop() -> None:
    with requests_by_signal(at_terminal=True) as requests:
        os.kill(os.getpid(), signal.SIGHUP)
        assert (requests.stop.is_set(), requests.reload.is_set()) == (True, False)


def test_hangup_that_was_ignored_does_not_end_it() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with requests_by_signal(at_terminal=True) as requests:
        os.kill(os.getpid(), signal.SIGHUP)
        assert not requests.stop.is_set()
    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_handlers_are_as_before_afterwards() -> None:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    with requests_by_signal(at_terminal=True):
        assert [signal.getsignal(number) for number in numbers] != before
    assert [signal.getsignal(number) for number in numbers] == before
