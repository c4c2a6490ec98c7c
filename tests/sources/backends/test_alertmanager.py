"""Answers that no Alertmanager gives; what a real one says is tested in tests/real/test_alerts_command.py."""

import json
import re

import pytest

from tests.sources.backends.stand_in import answering
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader, Messages
from vllmwatch.sources.backends.answer import BackendError

ALERTS, SILENCES = "/api/v2/alerts", "/api/v2/silences"


@pytest.mark.parametrize("answer", [b"null", b"3", b"{}", b'"x"', b"[1]", b"<html>", b""])
def test_what_is_no_list_of_alerts_is_not_taken_for_none(answer: bytes) -> None:
    with answering({}, answer) as program:
        for ask in (AlertmanagerReader(program.url).alerts, AlertmanagerReader(program.url).silences):
            with pytest.raises(BackendError, match="this is not Alertmanager") as caught:
                ask()
            assert program.url in caught.value.message


def test_fields_that_are_null_or_of_another_kind_are_empty() -> None:
    alert = {"labels": {"severity": "page"}, "annotations": None, "status": {"state": "active", "silencedBy": 3}}
    silence = {"id": "7", "status": None, "matchers": [1, {"name": "a", "value": "b"}], "comment": None}
    told = {ALERTS: json.dumps([alert, {"status": None}]).encode(), SILENCES: json.dumps([silence]).encode()}
    with answering(told) as program:
        first, second = AlertmanagerReader(program.url).alerts()
        assert (first.labels, first.annotations, first.state, first.silenced_by) == (
            {"severity": "page"},
            {},
            "active",
            (),
        )
        assert (second.labels, second.state) == ({}, "")
        (shown,) = AlertmanagerReader(program.url).silences()
        assert (shown.id, shown.matchers, shown.comment) == ("7", ('a="b"',), "")


def test_a_count_that_is_no_number_is_left_out() -> None:
    page = b"".join(
        b'alertmanager_notification_requests_total{integration="%s"} %s\n' % pair
        for pair in ((b"email", b"NaN"), (b"slack", b"2"), (b"slack", b"+Inf"), (b"slack", b"3"))
    )
    with answering({"/metrics": page}) as program:
        assert AlertmanagerReader(program.url).messages() == Messages({"slack": 5}, {})


@pytest.mark.parametrize("version", ["0.27.0", "v0.9.1", "0.25.0+ds"])
def test_an_alertmanager_that_cannot_load_our_configuration_is_refused(version: str) -> None:
    status = json.dumps({"versionInfo": {"version": version}}).encode()
    said = f"Alertmanager {re.escape(version)} is too old: 0.28 or newer"
    with answering({"/api/v2/status": status}) as program, pytest.raises(BackendError, match=said):
        AlertmanagerReader(program.url).require_supported()


@pytest.mark.parametrize("version", ["0.28.0", "0.33.1", "1.0.0", "v0.28.0-rc.1", "main"])
def test_a_newer_one_or_one_that_does_not_say_is_taken(version: str) -> None:
    status = json.dumps({"versionInfo": {"version": version}}).encode()
    with answering({"/api/v2/status": status}) as program:
        AlertmanagerReader(program.url).require_supported()
