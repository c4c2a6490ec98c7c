"""Answers that no Prometheus gives; what a real one says is tested in tests/real/test_alerts_command.py."""

import json

import pytest

from tests.sources.backends.stand_in import answering
from vllmwatch.sources.backends.answer import BackendError
from vllmwatch.sources.backends.prometheus import PrometheusReader


@pytest.mark.parametrize("answer", [b"null", b"[]", b"{}", b'{"data": []}', b"<html>", b""])
def test_what_is_no_list_of_alerts_is_not_taken_for_none(answer: bytes) -> None:
    with answering({}, answer) as program, pytest.raises(BackendError, match="this is not Prometheus"):
        PrometheusReader(program.url).alerts()


def test_alerts_that_are_pending_are_not_on() -> None:
    listed = [
        {"state": state, "labels": {"alertname": state}, "annotations": {}, "activeAt": "2026-01-02T03:04:05Z"}
        for state in ("pending", "firing", "inactive")
    ]
    with answering({"/api/v1/alerts": json.dumps({"data": {"alerts": listed}}).encode()}) as program:
        (alert,) = PrometheusReader(program.url).alerts()
    assert (alert.labels, alert.state, alert.starts_at) == ({"alertname": "firing"}, "active", "2026-01-02T03:04:05Z")
