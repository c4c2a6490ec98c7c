"""`vllmwatch silence` and `vllmwatch alerts` with words and answers that are wrong: one clear line, no traceback."""

import getpass

import pytest

from tests.cli.command_line import CommandLine, Outcome
from tests.real.places import free_port
from tests.sources.backends.stand_in import answering

SET = ("silence", "server=box:8000", "--comment", "we know")


def refused(outcome: Outcome) -> str:
    """Return the line that says what is wrong."""
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("error: ")
    assert "Traceback" not in outcome.err
    return outcome.err.splitlines()[0]


@pytest.mark.parametrize("lasts", ["99999999999999999999d", "400d", "0m", "", "٣h", "2 h", "-1h"])
def test_a_time_that_cannot_be_meant_is_refused(run: CommandLine, lasts: str) -> None:
    assert "is no time to be silent for" in refused(run(*SET, "--for", lasts))


def test_a_matcher_that_is_none_is_told_before_the_missing_reason(run: CommandLine) -> None:
    assert refused(run("silence", "GpuLost")) == "error: 'GpuLost' is no matcher"
    assert refused(run("silence", "alertname=GpuLost")) == "error: a silence without a reason"


@pytest.mark.parametrize("name", ["GpuLost", "gpulost", "gpu_lost", "GpuLots"])
def test_the_name_of_an_alert_alone_is_answered_with_the_matcher_that_was_meant(run: CommandLine, name: str) -> None:
    hint = run("silence", name).err.splitlines()[1]
    assert hint.startswith("hint: Did you mean alertname=GpuLost? Write label=value")
    assert run("silence", "zzz").err.splitlines()[1].startswith("hint: Write label=value")


@pytest.mark.parametrize(("sign", "pattern"), [("=~", "box("), ("!~", "(?=box)"), ("=~", "'[b-a]'")])
def test_a_broken_pattern_is_told_before_anybody_is_asked(run: CommandLine, sign: str, pattern: str) -> None:
    address = f"http://127.0.0.1:{free_port()}"
    outcome = run("silence", f"server{sign}{pattern}", "--comment", "x", VLLMWATCH_ALERTMANAGER_URL=address)
    assert refused(outcome).startswith(f"error: {f'server{sign}{pattern}'!r}: ")
    assert "pattern" in outcome.err.splitlines()[0]
    # It is a pattern only by its sign.
    outcome = run("silence", f"server={pattern}", "--comment", "x", VLLMWATCH_ALERTMANAGER_URL=address)
    assert "Alertmanager cannot be reached" in refused(outcome)


def test_a_silence_is_not_set_and_ended_at_once(run: CommandLine) -> None:
    assert "either set or ended" in refused(run(*SET, "--expire", "7"))


def test_a_user_without_a_name_is_asked_for_one(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4711")

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert refused(run(*SET)) == "error: you have no user name here"


@pytest.mark.parametrize("answer", [b"<html>", b"[]", b"null", b"{}", b'"x"'])
def test_a_program_that_is_no_alertmanager_has_set_no_silence(run: CommandLine, answer: bytes) -> None:
    with answering({}, answer) as program:
        outcome = run(*SET, VLLMWATCH_ALERTMANAGER_URL=program.url)
    assert "this is not Alertmanager" in refused(outcome)


def test_an_id_with_slashes_asks_for_no_other_page(run: CommandLine) -> None:
    with answering({}, b"") as program:
        assert run("silence", "--expire", "../../-/reload", VLLMWATCH_ALERTMANAGER_URL=program.url).code == 0
    assert program.asked == ["DELETE /api/v2/silence/..%2F..%2F-%2Freload"]


@pytest.mark.parametrize("words", [SET, ("silence",), ("alerts",), ("silence", "--expire", "7")])
def test_a_password_in_the_address_is_not_shown(run: CommandLine, words: tuple[str, ...]) -> None:
    address = f"http://watcher:hunter2@127.0.0.1:{free_port()}"
    prometheus = f"http://127.0.0.1:{free_port()}"
    outcome = run(*words, VLLMWATCH_ALERTMANAGER_URL=address, VLLMWATCH_PROMETHEUS_URL=prometheus)
    assert "Alertmanager cannot be reached" in refused(outcome)
    assert "hunter2" not in outcome.err


@pytest.mark.parametrize("address", ["box:9093", "ftp://box", "http://[::1", "http://", "http://box:99999", "x"])
@pytest.mark.parametrize("words", [SET, ("silence",)])
def test_an_address_that_is_none_is_refused_as_a_setting(
    run: CommandLine, words: tuple[str, ...], address: str
) -> None:
    outcome = run(*words, VLLMWATCH_ALERTMANAGER_URL=address)
    assert (outcome.code, outcome.out) != (0, "")
    assert "VLLMWATCH_ALERTMANAGER_URL" in outcome.err
    assert "an address such as http://host:9090 is asked for" in outcome.err


def test_a_host_that_cannot_be_is_one_line(run: CommandLine) -> None:
    outcome = run("silence", VLLMWATCH_ALERTMANAGER_URL="http://" + 64 * "x" + ".com")
    assert "Alertmanager cannot be asked" in refused(outcome)
