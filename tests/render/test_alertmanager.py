"""The configuration of Alertmanager as data: routes, times, and what mutes what."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

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
        rules = [
            rule
            for cause, effect, rule in pairs(inhibitions(ALERTS, settings))
            if cause == "VllmServerDown" and BY_NAME[effect].own_severity is None
        ]
        assert bool(rules) == (added is not None)
        for rule in rules:
            assert f'severity="{severity}"' in rule["source_matchers"]
            assert [each for each in rule["target_matchers"] if each.startswith("severity")] == added
    # As the catalogue has it: no ticket mutes a page.
    for cause, _, rule in pairs(inhibitions(ALERTS)):
        if BY_NAME[cause].severity is Severity.TICKET:
            assert {'severity="ticket"'} <= set(rule["source_matchers"])
            assert 'severity!="page"' in rule["target_matchers"]


def test_a_page_that_all_servers_of_a_model_feel_is_muted_by_no_fault_of_one() -> None:
    found = {(cause, effect): rule["target_matchers"] for cause, effect, rule in pairs(inhibitions(ALERTS))}
    for cause, spared in (("VllmServerDown", True), ("GpuLost", True), ("ModelWithoutServer", False)):
        assert ('severity!="page"' in found[cause, "RequestLatencyP99High"]) == spared
    assert 'severity!="page"' not in found["GpuLost", "VllmServerDown"]


def test_fleets_that_share_an_alertmanager_mute_and_group_nothing_of_each_other() -> None:
    settings = AlertSettings(external_labels=("cluster",))
    data: dict[str, Any] = yaml.safe_load(render_alertmanager(Routing(), ALERTS, settings))
    assert "cluster" in data["route"]["group_by"]
    assert data["inhibit_rules"]
    for rule in data["inhibit_rules"]:
        assert "cluster" in rule["equal"]
        assert 'cluster=~".+"' in rule["source_matchers"]
        assert 'cluster=~".+"' in rule["target_matchers"]


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
    # What is told of GPUs has a route of its own below each, which inherits no hours.
    below = {route["receiver"]: route["routes"][0] for route in data["route"]["routes"] if "routes" in route}
    assert below["ticket"]["mute_time_intervals"] == [interval["name"]]
    assert "mute_time_intervals" not in below["page"]


def test_one_fault_is_one_page() -> None:
    data = rendered(Routing((HOOK,), Team("", ("hook",), ())))
    assert data["route"]["group_by"] == ["node", "server", "model_name", "uuid"]
    assert "alertname" not in data["route"]["group_by"]
    # Eight GPUs that are lost at once are one page: those of a server together, and those of nobody by their node.
    (page,) = [route for route in data["route"]["routes"] if 'severity="page"' in route["matchers"]]
    assert page["routes"] == [{"matchers": ['uuid=~".+"'], "group_by": ["node", "server", "model_name"]}]


def test_a_receiver_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="there is no receiver 'phone'; there are: hook"):
        render_alertmanager(Routing((HOOK,), Team("", ("phone",), ())), ALERTS)


def test_nobody_to_tell_is_said_in_the_first_lines() -> None:
    assert "NOBODY IS TOLD" in render_alertmanager(Routing(), ALERTS).splitlines()[2]
    assert "NOBODY IS TOLD" not in render_alertmanager(Routing((HOOK,), Team("", ("hook",), ())), ALERTS)


def test_the_file_says_where_alerts_go_that_have_no_route() -> None:
    text = render_alertmanager(Routing((HOOK,), Team("", ("hook",), ())), ALERTS)
    comments = " ".join(line.removeprefix("# ") for line in text.splitlines() if line.startswith("# "))
    assert "without `severity: page` or `severity: ticket` goes to the receiver nobody" in comments
    assert "a team that has no route here goes to those of the settings `page_to` and `ticket_to`" in comments


def test_no_names_of_teams_and_receivers_come_out_as_one() -> None:
    """Alertmanager refuses a file in which a name stands twice."""
    names = ("a", "a-page", "page", "only-a", "team-a", "nobody", "heartbeat")
    receivers = tuple(Receiver(name, WEBHOOK, {"url": "http://127.0.0.1:9/hook"}) for name in names)
    teams = tuple(Team(name, ("a",), ("a",)) for name in names)
    data = rendered(Routing(receivers, Team("", ("a",), ("a",)), teams, heartbeat="a"))
    found = [receiver["name"] for receiver in data["receivers"]]
    assert len(found) == len(set(found)) == 4 + 3 * len(names)


def test_ntfy_is_told_in_the_address_what_to_make_of_a_message() -> None:
    (ntfy,) = [kind for kind in RECEIVER_KINDS if kind.word == "ntfy"]
    for address, kept in (("https://n/topic", {}), ("https://n/t?a=1", {"a": ["1"]})):
        data = rendered(Routing((Receiver("phone", ntfy, {"url": address}),), Team("", ("phone",), ())))
        (page,) = [receiver for receiver in data["receivers"] if receiver["name"] == "page"]
        written = page["webhook_configs"][0]["url"]
        # Unescaped braces would be a template of Alertmanager's own.
        assert not set("{} \n") & set(written)
        asked = parse_qs(urlsplit(written).query)
        (title,), (message,), (yes,) = asked.pop("t"), asked.pop("m"), asked.pop("tpl")
        assert asked == kept
        assert yes == "1"
        assert "(index .alerts 0).annotations.summary" in title
        for told in ("summary", "description", "dashboard_url", "logs_url", "runbook_url"):
            assert f".annotations.{told} }}}}" in message
        for told in ("model_name", "server", "instance", "uuid", "node"):
            assert f".labels.{told} }}}}" in message
        begun = [word for word in ("range", "if", "with") for _ in range(message.count(f"{{{{ {word} "))]
        assert message.count("{{ end }}") == len(begun)
