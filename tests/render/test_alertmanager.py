"""The configuration of Alertmanager as data: routes, times, and what mutes what."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.alertmanager import Routing, render_alertmanager
from vllmwatch.render.inhibitions import inhibitions
from vllmwatch.spec.alert import Alert, Severity
from vllmwatch.spec.receiver import QuietHours, Receiver, Team

BY_NAME = {alert.name: alert for alert in ALERTS}
(WEBHOOK,) = [kind for kind in RECEIVER_KINDS if kind.word == "webhook"]
HOOK = Receiver("hook", WEBHOOK, {"url": "http://127.0.0.1:9/hook"})


def rendered(routing: Routing) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(render_alertmanager(routing, ALERTS))
    return data


def pairs(rules: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield each cause with each of its effects and the inhibition that says so."""
    for rule in rules:
        cause = rule["source_matchers"][0].removeprefix('alertname="').removesuffix('"')
        for effect in rule["target_matchers"][0].removeprefix('alertname=~"').removesuffix('"').split("|"):
            yield cause, effect, rule


def test_every_cause_mutes_its_effects_about_the_same_thing_and_nothing_else() -> None:
    found = {(cause, effect): rule for cause, effect, rule in pairs(inhibitions(ALERTS))}
    assert found.keys() == {(cause, alert.name) for alert in ALERTS for cause in alert.causes}
    for (cause, effect), rule in found.items():
        assert set(rule["equal"]) == set(BY_NAME[cause].labels) & set(BY_NAME[effect].labels)
        # A label that both lack counts as equal: each that is compared must be there on both sides.
        filled = {f'{label}=~".+"' for label in rule["equal"]}
        assert filled
        assert filled <= set(rule["source_matchers"])
        assert filled <= set(rule["target_matchers"])


def test_no_page_is_muted_by_what_wakes_nobody() -> None:
    """Whoever has VllmServerDown as a ticket, or tells nobody of it, is still woken by what follows from it."""
    wanted = {"page": [], "ticket": ['severity!="page"'], "none": None}
    for severity, added in wanted.items():
        settings = AlertSettings(severities={"VllmServerDown": Severity(severity)})
        rules = [rule for cause, _, rule in pairs(inhibitions(ALERTS, settings)) if cause == "VllmServerDown"]
        assert bool(rules) == (added is not None)
        for rule in rules:
            assert f'severity="{severity}"' in rule["source_matchers"]
            assert [each for each in rule["target_matchers"] if each.startswith("severity")] == added
    # As the catalogue has it: no ticket mutes a page.
    for cause, _, rule in pairs(inhibitions(ALERTS)):
        if BY_NAME[cause].severity is Severity.TICKET:
            assert {'severity="ticket"'} <= set(rule["source_matchers"])
            assert 'severity!="page"' in rule["target_matchers"]


def test_servers_that_prometheus_scrapes_itself_are_told_apart_by_the_labels_of_a_scrape() -> None:
    routing = Routing((HOOK,), Team("", ("hook",), ()))
    data: dict[str, Any] = yaml.safe_load(render_alertmanager(routing, ALERTS, direct=True))
    assert {"job", "instance", "model_name"} <= set(data["route"]["group_by"])
    found = {(cause, effect): rule["equal"] for cause, effect, rule in pairs(data["inhibit_rules"])}
    assert found["VllmServerDown", "VllmEngineStuck"] == ["job", "instance", "model_name"]
    assert found["VllmServerDown", "RequestLatencyP99High"] == ["model_name"]
    # Alerts about GPUs keep their labels, and know no server of such a scrape: by the model alone, a lost GPU would
    # mute each server of it.
    assert found["GpuLost", "GpuNvlinkErrors"] == ["node", "uuid"]
    assert ("GpuLost", "VllmServerDown") not in found


def test_the_heartbeat_is_due_again_at_each_look() -> None:
    """With both times the same, each second beat is left out as too early."""
    data = rendered(Routing((HOOK,), Team("", ("hook",), ()), heartbeat="hook"))
    beat = data["route"]["routes"][0]
    assert beat["receiver"] == "heartbeat"
    assert (beat["group_interval"], beat["repeat_interval"]) == ("1m", "50s")


def test_a_cause_that_shares_nothing_is_refused() -> None:
    watchdog = BY_NAME["Watchdog"]
    stranger: Alert = replace(BY_NAME["KvCacheUsageHigh"], causes=("Watchdog",))
    with pytest.raises(ValueError, match="share no label"):
        list(inhibitions((watchdog, stranger)))


@pytest.mark.parametrize(
    ("hours", "times"),
    [
        (("22:00", "07:00"), [("00:00", "07:00"), ("22:00", "24:00")]),
        (("22:00", "00:00"), [("22:00", "24:00")]),
        (("01:00", "05:30"), [("01:00", "05:30")]),
    ],
)
def test_tickets_wait_in_quiet_hours_and_pages_do_not(hours: tuple[str, str], times: list[tuple[str, str]]) -> None:
    data = rendered(Routing((HOOK,), Team("", ("hook",), ("hook",)), quiet_hours=QuietHours(*hours, "UTC")))
    (interval,) = data["time_intervals"]
    (entry,) = interval["time_intervals"]
    assert [(each["start_time"], each["end_time"]) for each in entry["times"]] == times
    muted = {route["receiver"]: route.get("mute_time_intervals") for route in data["route"]["routes"]}
    assert muted["ticket"] == [interval["name"]]
    assert muted["page"] is None


def test_one_fault_is_one_page() -> None:
    data = rendered(Routing((HOOK,), Team("", ("hook",), ())))
    assert data["route"]["group_by"] == ["node", "server", "model_name", "uuid"]
    assert "alertname" not in data["route"]["group_by"]


def test_a_receiver_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no receiver 'phone'; there are: hook"):
        render_alertmanager(Routing((HOOK,), Team("", ("phone",), ())), ALERTS)


def test_nobody_to_tell_is_said_in_the_first_lines() -> None:
    assert "NOBODY IS TOLD" in render_alertmanager(Routing(), ALERTS).splitlines()[2]
    assert "NOBODY IS TOLD" not in render_alertmanager(Routing((HOOK,), Team("", ("hook",), ())), ALERTS)


def test_no_names_of_teams_and_receivers_come_out_as_one() -> None:
    """Alertmanager refuses a file in which a name stands twice."""
    names = ("a", "a-page", "page", "only-a", "team-a", "nobody", "heartbeat")
    receivers = tuple(Receiver(name, WEBHOOK, {"url": "http://127.0.0.1:9/hook"}) for name in names)
    teams = tuple(Team(name, ("a",), ("a",)) for name in names)
    data = rendered(Routing(receivers, Team("", ("a",), ("a",)), teams, heartbeat="a"))
    found = [receiver["name"] for receiver in data["receivers"]]
    assert len(found) == len(set(found)) == 4 + 3 * len(names)


def test_the_template_of_ntfy_is_asked_for_beside_what_an_address_asks_for() -> None:
    (ntfy,) = [kind for kind in RECEIVER_KINDS if kind.word == "ntfy"]
    for address, asked in (
        ("https://n/topic", "?template=alertmanager"),
        ("https://n/t?a=1", "&template=alertmanager"),
    ):
        data = rendered(Routing((Receiver("phone", ntfy, {"url": address}),), Team("", ("phone",), ())))
        (page,) = [receiver for receiver in data["receivers"] if receiver["name"] == "page"]
        assert page["webhook_configs"][0]["url"] == address + asked
