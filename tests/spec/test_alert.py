"""An alert that is nonsense is refused where it is written."""

from dataclasses import replace
from typing import Any

import pytest

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.spec.alert import Alert, Severity

BY_NAME = {alert.name: alert for alert in ALERTS}
GOOD = BY_NAME["VllmServerDown"]
OF_MODELS = BY_NAME["KvCacheUsageHigh"]


@pytest.mark.parametrize(
    ("alert", "change", "words"),
    [
        (GOOD, {"name": "server_down"}, "words with capitals"),
        (GOOD, {"hold": "5"}, "'5' is no duration"),
        (GOOD, {"keep_firing": "a while"}, "'a while' is no duration"),
        (GOOD, {"threshold": "gpu_temperature_celsius"}, "stands in the expression"),
        (OF_MODELS, {"threshold": ""}, "stands in the expression"),
        (GOOD, {"causes": ("VllmServerDown",)}, "cannot mute itself"),
        (GOOD, {"own_severity": Severity.TICKET}, "no model has a threshold of its own"),
        (GOOD, {"cases": ()}, "VllmServerDown"),
        (GOOD, {"summary": "It is down. " * 11}, "VllmServerDown"),
        (GOOD, {"description": "It is down."}, "VllmServerDown"),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_nonsense_is_refused(alert: Alert, change: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(alert, **change)


def test_expression_for_some_models_and_for_all() -> None:
    assert OF_MODELS.expression_for("0.9", 'model_name="m"').count('model_name="m"') == 1
    assert "{" not in OF_MODELS.expression_for("0.9")
    assert OF_MODELS.per_model
    assert not GOOD.per_model


def test_slug_is_the_name_in_lower_case() -> None:
    assert (GOOD.slug, BY_NAME["RequestLatencyP99High"].slug) == ("vllm_server_down", "request_latency_p99_high")
