"""Words of the alerts: short enough for a phone, and the runbook of XID events has all that page."""

import re

import pytest

from vllmwatch.catalog.alerts import ALERTS, RUNBOOKS
from vllmwatch.catalog.gpu_labels import RECOVERY_ACTION
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.catalog.recordings.gpus import GROUP
from vllmwatch.catalog.xids import CRITICAL_XIDS
from vllmwatch.spec.alert import Alert

LONGEST = 80
FILLED = {
    "model_name": "meta-llama/Llama-3.1-8B-Instruct",
    "node": "gpu-node-0017.example",
    "engine": "12",
    "figure": "pcie_width",
    "xid": "119",
    "pci_bus_id": "",
    "theme": "saturation",
    "rule_group": "/etc/prometheus/rules/alerts_latency.yml;vllmwatch-alerts-latency",
    "setting": "time_to_first_token_p99_seconds",
    "file": "",
    "job": "vllmwatch",
    "program": "alertmanager",
    "integration": "pagerduty",
    "event": max((event.name for event in LOG_CATALOG.events), key=len),
    "action": max(RECOVERY_ACTION.values or (), key=len),
}
UUID = "GPU-9f3a1b2c"


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_a_summary_fits_a_phone_when_it_is_filled_in(alert: Alert) -> None:
    text = alert.summary.replace('{{ printf "%.12s" $labels.uuid }}', UUID)
    filled = FILLED | {"server": "gpu01:8000" if "$labels.model_name" in text else "gpu-node-0017:8000"}
    text = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: filled[match[1]], text)
    assert "{{" not in text, text
    assert len(text) < LONGEST, text


def test_the_runbook_of_critical_events_names_those_that_page_and_no_others() -> None:
    meaning = RUNBOOKS["GpuXidCritical"].partition("## Why it matters")[0]
    named = {int(number) for group in re.findall(r"\(([0-9, ]+)\)", meaning) for number in group.split(",")}
    assert named == set(CRITICAL_XIDS)


def test_every_recording_of_faults_is_read_by_an_alert() -> None:
    read = "\n".join(alert.expression for alert in ALERTS) + "\n".join(each.expression for each in GROUP.recordings)
    assert [each.name for each in GROUP.recordings if each.name not in read] == []
