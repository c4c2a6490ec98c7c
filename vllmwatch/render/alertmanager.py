"""The configuration of Alertmanager: who is told what, what is one page, and what mutes what."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from vllmwatch.catalog.alert_names import TEST_ALERT
from vllmwatch.render import mark
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.direct import labels_as_direct
from vllmwatch.render.inhibitions import inhibitions
from vllmwatch.render.ntfy import ntfy_address
from vllmwatch.render.rules import dump
from vllmwatch.spec.alert import Alert, Severity
from vllmwatch.spec.receiver import QuietHours, Receiver, Team

TEMPLATE_FILE = "vllmwatch.tmpl"
WATCHDOG = "Watchdog"
# One fault is one page: what happens to a server, or to a GPU, comes together, whatever the alerts are called.
GROUP_BY = ("node", "server", "model_name", "uuid")
# Faults that several GPUs of one server have at once, or that all of a node have, are one as well.
_GROUP_BY_OF_GPUS = ("node", "server", "model_name")
_NOBODY, _HEARTBEAT, _QUIET = "nobody", "heartbeat", "quiet-hours"
_LOUD = "# NOBODY IS TOLD: no receiver is configured (settings `receivers` and `page_to`).\n"
_ROUTED = (
    "# An alert without `severity: page` or `severity: ticket` goes to the receiver nobody, the watchdog aside.\n"
    "# One of a team that has no route here goes to those of the settings `page_to` and `ticket_to`.\n"
)
_TITLE = '{{ template "vllmwatch.title" . }}'
_TEXT = '{{ template "vllmwatch.text" . }}'
# What of a message our templates make, by Alertmanager's section; the others send the whole as JSON.
_MESSAGES: Mapping[str, Mapping[str, Any]] = {
    "slack_configs": {"title": _TITLE, "text": _TEXT, "title_link": '{{ template "vllmwatch.board" . }}'},
    "pagerduty_configs": {
        "description": _TITLE,
        "details": {"what": _TEXT},
        "severity": '{{ if eq .CommonLabels.severity "page" }}critical{{ else }}warning{{ end }}',
    },
    "email_configs": {
        "headers": {"Subject": _TITLE},
        "text": _TEXT,
        "html": '<pre>{{ template "vllmwatch.text" . }}</pre>',
    },
    "msteamsv2_configs": {"title": _TITLE, "text": _TEXT},
    "discord_configs": {"title": _TITLE, "message": _TEXT},
    "telegram_configs": {"message": f"{_TITLE}\n{_TEXT}", "parse_mode": ""},
    # Alertmanager's own priority is that which rings until somebody answers, for tickets too.
    "pushover_configs": {
        "title": _TITLE,
        "message": _TEXT,
        "priority": '{{ if and (eq .Status "firing") (eq .CommonLabels.severity "page") }}2{{ else }}0{{ end }}',
    },
}


@dataclass(frozen=True, slots=True)
class Routing:
    """Who is told: `default` of all, and `teams` of what is theirs.

    `heartbeat` is a receiver that misses us when we fall silent.
    """

    receivers: tuple[Receiver, ...] = ()
    default: Team = field(default_factory=lambda: Team("", (), ()))
    teams: tuple[Team, ...] = ()
    heartbeat: str | None = None
    quiet_hours: QuietHours | None = None

    @property
    def tells_nobody(self) -> bool:
        """Whether no page whatever reaches a receiver."""
        return not any(team.pages for team in (self.default, *self.teams))


def render_alertmanager(
    routing: Routing, alerts: Sequence[Alert], settings: AlertSettings | None = None, *, direct: bool = False
) -> str:
    """Return alertmanager.yml; raises ValueError where a team names a receiver that there is not.

    `direct` says that servers have the labels of a scrape.
    """
    _require_known(routing)
    in_force = settings or AlertSettings()
    added = (*in_force.external_labels, *(labels_as_direct("servers", ("node", "server")) if direct else ()))
    data: dict[str, Any] = {"route": _route(routing, added)}
    if routing.quiet_hours is not None:
        data["time_intervals"] = [_quiet(routing.quiet_hours)]
    data["receivers"] = list(_receivers(routing))
    data["inhibit_rules"] = list(inhibitions(alerts, in_force, direct=direct))
    data["templates"] = [TEMPLATE_FILE]
    return mark.comment((_LOUD if routing.tells_nobody else "") + _ROUTED + dump(data))


def receiver_of(routing: Routing, team: str, receiver: str = "") -> str:
    """Return what Alertmanager calls those who get the pages of a team, or one receiver alone."""
    if receiver:
        return f"only-{receiver}"
    told = next((each for each in routing.teams if each.name == team), routing.default)
    return _name(told, Severity.PAGE)


def integrations(routing: Routing) -> dict[str, frozenset[str]]:
    """Return by what each receiver of Alertmanager sends, in its own words (`webhook`, `slack`)."""
    return {
        entry["name"]: frozenset(section.removesuffix("_configs") for section in entry if section != "name")
        for entry in _receivers(routing)
    }


def _route(routing: Routing, added: tuple[str, ...]) -> dict[str, Any]:
    """Return the tree of routes; `added` are labels by which messages are grouped beside those of ours."""
    routes: list[dict[str, Any]] = [
        {
            "receiver": _HEARTBEAT if routing.heartbeat else _NOBODY,
            "matchers": [f'alertname="{WATCHDOG}"'],
            "group_by": ["alertname"],
            "group_wait": "0s",
            "group_interval": "1m",
            # A beat a minute: after a whole one, the last beat would be too young by the moment that it took to send.
            "repeat_interval": "50s",
        }
    ]
    for receiver in routing.receivers:
        matchers = [f'alertname="{TEST_ALERT}"', f'receiver="{receiver.name}"']
        routes.append({"receiver": f"only-{receiver.name}", "matchers": matchers, "group_wait": "0s"})
    for team in routing.teams:
        routes += _team_routes(team, [f'team="{team.name}"'], routing, added)
    routes += _team_routes(routing.default, [], routing, added)
    return {
        "receiver": _NOBODY,
        "group_by": [*GROUP_BY, *added],
        "group_wait": "30s",
        "group_interval": "5m",
        "repeat_interval": "4h",
        "routes": routes,
    }


def _team_routes(team: Team, matchers: list[str], routing: Routing, added: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    for severity, names, wait, again in (
        (Severity.PAGE, team.pages, "10s", "1h"),
        (Severity.TICKET, team.tickets, "1m", "24h"),
    ):
        of_gpus: dict[str, Any] = {"matchers": ['uuid=~".+"'], "group_by": [*_GROUP_BY_OF_GPUS, *added]}
        route: dict[str, Any] = {
            "receiver": _name(team, severity) if names else _NOBODY,
            "matchers": [*matchers, f'severity="{severity}"'],
            "group_wait": wait,
            "repeat_interval": again,
        }
        if severity is Severity.TICKET and routing.quiet_hours is not None:
            # No route has its intervals from the one above it.
            route["mute_time_intervals"], of_gpus["mute_time_intervals"] = [_QUIET], [_QUIET]
        yield route | {"routes": [of_gpus]}


def _receivers(routing: Routing) -> Iterator[dict[str, Any]]:
    by_name = {receiver.name: receiver for receiver in routing.receivers}
    yield {"name": _NOBODY}
    for receiver in routing.receivers:
        yield {"name": f"only-{receiver.name}", **_sections([receiver])}
    if routing.heartbeat:
        yield {"name": _HEARTBEAT, **_sections([by_name[routing.heartbeat]], send_resolved=False)}
    for team in (*routing.teams, routing.default):
        for severity, names in ((Severity.PAGE, team.pages), (Severity.TICKET, team.tickets)):
            if names:
                yield {"name": _name(team, severity), **_sections([by_name[name] for name in names])}


def _sections(receivers: Sequence[Receiver], *, send_resolved: bool = True) -> dict[str, list[dict[str, Any]]]:
    sections: dict[str, list[dict[str, Any]]] = {}
    for receiver in receivers:
        fields = {**receiver.values, **_MESSAGES.get(receiver.kind.section, {}), "send_resolved": send_resolved}
        if receiver.kind.word == "ntfy":
            fields = _ntfy(receiver, send_resolved=send_resolved)
        sections.setdefault(receiver.kind.section, []).append(fields)
    return sections


def _ntfy(receiver: Receiver, *, send_resolved: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"url": ntfy_address(str(receiver.values["url"])), "send_resolved": send_resolved}
    if "token_file" in receiver.values:
        fields["http_config"] = {"authorization": {"credentials_file": receiver.values["token_file"]}}
    return fields


def _name(team: Team, severity: Severity) -> str:
    return f"team-{team.name}-{severity}" if team.name else str(severity)


def _quiet(hours: QuietHours) -> dict[str, Any]:
    """Return the interval in which tickets wait; one that crosses midnight is two."""
    if hours.start < hours.end:
        times = [{"start_time": hours.start, "end_time": hours.end}]
    else:
        times = [{"start_time": hours.start, "end_time": "24:00"}]
        if hours.end != "00:00":
            times.insert(0, {"start_time": "00:00", "end_time": hours.end})
    return {"name": _QUIET, "time_intervals": [{"times": times, "location": hours.time_zone}]}


def _require_known(routing: Routing) -> None:
    known = {receiver.name for receiver in routing.receivers}
    asked = [name for team in (*routing.teams, routing.default) for name in (*team.pages, *team.tickets)]
    for name in (*asked, *((routing.heartbeat,) if routing.heartbeat else ())):
        if name not in known:
            raise ValueError(f"there is no receiver {name!r}; there are: {', '.join(sorted(known)) or 'none'}")
