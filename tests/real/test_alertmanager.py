"""The configuration of Alertmanager, held to the real amtool: it is taken, and everybody is told what is theirs."""

import json
import subprocess
from pathlib import Path

import pytest

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.render.alert_template import render_alert_template
from vllmwatch.render.alertmanager import TEMPLATE_FILE, Routing, render_alertmanager
from vllmwatch.spec.receiver import QuietHours, Receiver, ReceiverKind, Team, Value

pytestmark = pytest.mark.real_alertmanager


def receiver(kind: ReceiverKind, *, folder: Path, all_keys: bool = True) -> Receiver:
    """Return a receiver of a kind with all its keys, or with those alone that must be there."""
    values: dict[str, str | int] = {}
    for key in kind.keys:
        if key.key in kind.one_of[1:] or not (all_keys or key.required or key.key in kind.one_of):
            continue
        if key.value is Value.NUMBER:
            values[key.key] = -1001
        elif key.value is Value.SECRET_FILE:
            values[key.key] = str(folder / f"{kind.word}_{key.key}")
        else:
            values[key.key] = {"url": "http://127.0.0.1:9/x", "smarthost": "mail.example:587"}.get(
                key.key, "a@b.example"
            )
    return Receiver(f"my-{kind.word}", kind, values)


def written(folder: Path, routing: Routing) -> Path:
    (folder / TEMPLATE_FILE).write_text(render_alert_template())
    path = folder / "alertmanager.yml"
    path.write_text(render_alertmanager(routing, ALERTS))
    return path


def amtool(program: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        [program.with_name("amtool"), *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("all_keys", [True, False])
@pytest.mark.parametrize("kind", RECEIVER_KINDS, ids=lambda kind: kind.word)
def test_each_kind_of_receiver_is_taken(
    kind: ReceiverKind, all_keys: bool, alertmanager_program: Path, tmp_path: Path
) -> None:
    one = receiver(kind, folder=tmp_path, all_keys=all_keys)
    routing = Routing((one,), Team("", (one.name,), (one.name,)), heartbeat=one.name)
    amtool(alertmanager_program, "check-config", written(tmp_path, routing))


def test_everybody_is_told_what_they_should_be(alertmanager_program: Path, tmp_path: Path) -> None:
    receivers = tuple(receiver(kind, folder=tmp_path) for kind in RECEIVER_KINDS)
    routing = Routing(
        receivers,
        Team("", ("my-pagerduty", "my-slack"), ("my-slack",)),
        (Team("chat", ("my-telegram",), ("my-email",)), Team("batch", (), ("my-ntfy",))),
        heartbeat="my-webhook",
        quiet_hours=QuietHours("22:00", "07:00", "Europe/Berlin"),
    )
    path = written(tmp_path, routing)
    amtool(alertmanager_program, "check-config", path)

    def told(**labels: str) -> str:
        pairs = [f"{name}={value}" for name, value in labels.items()]
        return amtool(alertmanager_program, "config", "routes", "test", f"--config.file={path}", *pairs).strip()

    assert told(alertname="GpuLost", severity="page", team="vllm") == "page"
    assert told(alertname="KvCacheUsageHigh", severity="ticket", team="vllm") == "ticket"
    assert told(alertname="GpuLost", severity="page", team="chat") == "team-chat-page"
    assert told(alertname="GpuLost", severity="ticket", team="chat") == "team-chat-ticket"
    assert told(alertname="GpuLost", severity="page", team="batch") == "nobody"
    assert told(alertname="Watchdog", severity="none", team="vllm") == "heartbeat"
    assert told(alertname="Strange", severity="none", team="vllm") == "nobody"


def test_nobody_configured_is_taken_and_said_loudly(alertmanager_program: Path, tmp_path: Path) -> None:
    path = written(tmp_path, Routing())
    amtool(alertmanager_program, "check-config", path)
    assert "NOBODY IS TOLD" in path.read_text()


def test_a_message_names_what_a_person_needs(alertmanager_program: Path, tmp_path: Path) -> None:
    written(tmp_path, Routing())
    labels = {
        "alertname": "VllmServerDown",
        "severity": "page",
        "server": "box:8000",
        "model_name": "org/m",
        "node": "box",
    }
    annotations = {"summary": "box:8000 is down", "description": "For 3m.", "runbook_url": "R", "dashboard_url": "B"}
    alert = {
        "status": "firing",
        "labels": labels,
        "annotations": annotations,
        "startsAt": "2026-11-30T03:00:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
    }
    (tmp_path / "data.json").write_text(
        json.dumps({"receiver": "page", "status": "firing", "alerts": [alert, alert], "commonLabels": labels})
    )

    def rendered(name: str) -> str:
        return amtool(
            alertmanager_program,
            "template",
            "render",
            f"--template.glob={tmp_path / TEMPLATE_FILE}",
            f'--template.text={{{{ template "{name}" . }}}}',
            f"--template.data={tmp_path / 'data.json'}",
        )

    assert rendered("vllmwatch.title").strip() == "[FIRING 2] box:8000 is down and 1 more"
    text = rendered("vllmwatch.text")
    for part in (
        "Model: org/m",
        "Server: box:8000",
        "Since: 2026-11-30 03:00:00 UTC",
        "Board: B",
        "Runbook: R",
        "For 3m.",
    ):
        assert text.count(part) == 2, part
    assert "GPU:" not in text
    assert "Engine:" not in text


def test_a_title_names_what_still_fires_and_the_text_tells_what_is_over_last(
    alertmanager_program: Path, tmp_path: Path
) -> None:
    """Engine 0 is well again and sorts first; nobody is to look at it for the fault of engine 1."""
    written(tmp_path, Routing())

    def alert(engine: str, status: str) -> dict[str, object]:
        return {
            "status": status,
            "labels": {"alertname": "VllmEngineStuck", "engine": engine, "instance": "box:8000"},
            "annotations": {"summary": f"Engine {engine} is stuck", "dashboard_url": f"B{engine}"},
            "startsAt": "2026-11-30T03:00:00Z",
            "endsAt": "2026-11-30T03:07:00Z" if status == "resolved" else "0001-01-01T00:00:00Z",
        }

    def rendered(name: str, status: str, *alerts: dict[str, object]) -> str:
        data = tmp_path / "data.json"
        data.write_text(json.dumps({"receiver": "page", "status": status, "alerts": alerts}))
        return amtool(
            alertmanager_program,
            "template",
            "render",
            f"--template.glob={tmp_path / TEMPLATE_FILE}",
            f'--template.text={{{{ template "{name}" . }}}}',
            f"--template.data={data}",
        ).strip()

    both = alert("0", "resolved"), alert("1", "firing")
    assert rendered("vllmwatch.title", "firing", *both) == "[FIRING 1] Engine 1 is stuck"
    assert rendered("vllmwatch.board", "firing", *both) == "B1"
    text = rendered("vllmwatch.text", "firing", *both)
    assert text.index("Engine 1 is stuck") < text.index("Over: Engine 0 is stuck")
    assert text.count("Until: 2026-11-30 03:07:00 UTC") == 1
    assert text.count("Server: box:8000") == 2
    over = alert("0", "resolved"), alert("1", "resolved")
    assert rendered("vllmwatch.title", "resolved", *over) == "[RESOLVED] Engine 0 is stuck and 1 more"
    assert rendered("vllmwatch.board", "resolved", *over) == "B0"
