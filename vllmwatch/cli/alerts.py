"""`vllmwatch alerts`: what fires now, and whether a page would arrive."""

import datetime as dt
import json
from typing import Annotated

import typer

from vllmwatch.catalog.alert_names import TEST_ALERT
from vllmwatch.cli.alert_settings import routing
from vllmwatch.cli.files import settings_file
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.config import Config
from vllmwatch.doctor.try_page import Delivery, Way, try_page
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.alertmanager import integrations, receiver_of
from vllmwatch.render.tables import columns
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.backends.active import ActiveAlert
from vllmwatch.sources.backends.alertmanager import AlertmanagerReader
from vllmwatch.sources.backends.answer import BackendError
from vllmwatch.sources.backends.prometheus import PrometheusReader
from vllmwatch.spec.alert import Severity

_WAIT_SECONDS = 60.0
_ORDER = (Severity.PAGE, Severity.TICKET, Severity.NONE)
_WHO = ("model_name", "server", "instance", "engine", "uuid", "node")

Action = Annotated[
    str, typer.Argument(metavar="test", help="'test' sends a page that is only a test.", show_default=False)
]
ReceiverName = Annotated[
    str,
    typer.Argument(metavar="RECEIVER", help="The receiver to test; without it, those of pages.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@with_file
def alerts(load: ConfigLoader, *, action: Action = "", receiver: ReceiverName = "", as_json: Json = False) -> None:
    """List the alerts that are on; `alerts test [RECEIVER]` tries whether a page arrives.

    They are asked of Alertmanager, and where none answers of Prometheus, which does not know what is muted. Exits with
    1 when a test page is not delivered.
    """
    config = load()
    reader = AlertmanagerReader(config.alertmanager_url)
    if action == "test":
        _test(config, reader, receiver)
    elif action:
        raise VllmwatchError(f"{action!r} is no action", hint="Run `vllmwatch alerts`, or `vllmwatch alerts test`.")
    else:
        found = sorted(_alerts(config, reader), key=_rank)
        typer.echo(json.dumps([_plain(alert) for alert in found], indent=2) if as_json else _table(found))


def _alerts(config: Config, reader: AlertmanagerReader) -> tuple[ActiveAlert, ...]:
    try:
        return reader.alerts()
    except BackendError as error:
        try:
            found = PrometheusReader(config.prometheus_url).alerts()
        except BackendError as too:
            raise VllmwatchError(
                f"{error.message}\n{too.message}",
                hint="Is one of them there? The settings alertmanager_url and prometheus_url say where they are asked.",
            ) from None
        typer.echo(f"warning: {error.message}; Prometheus is asked, which does not know what is muted", err=True)
        return found


def _test(config: Config, reader: AlertmanagerReader, name: str) -> None:
    by_name = {receiver.name: receiver for receiver in config.receivers}
    if name and name not in by_name:
        hint = f"There are: {', '.join(by_name)}." if by_name else f"Set `receivers` in {settings_file(config)}."
        raise VllmwatchError(f"there is no receiver {name!r}", hint=hint)
    # The test has the label of our team, and goes where its pages go.
    told = routing(config)
    pages = next((team.pages for team in config.teams if team.name == config.team), config.page_to)
    wanted = [by_name[each] for each in ((name,) if name else pages)]
    if not wanted:
        raise VllmwatchError(
            "no page reaches anybody", hint=f"Set `receivers` and `page_to` in {settings_file(config)}."
        )
    labels = {"severity": str(Severity.PAGE), "team": config.team} | ({"receiver": name} if name else {})
    names = ", ".join(each.name for each in wanted)
    typer.echo(f"Sending {TEST_ALERT} through {mask_secrets(config.alertmanager_url)} to {names}")
    reader.require_supported()
    way = Way(labels, receiver_of(told, config.team, name), wanted, integrations(told))
    found = try_page(reader, way, _WAIT_SECONDS)
    for delivery in found:
        typer.echo(_said(delivery))
    if not all(delivery.delivered for delivery in found):
        raise VllmwatchError(
            "the test page was not delivered",
            hint="Look into Alertmanager's log, and whether its configuration is that of `vllmwatch rules`.",
        )


def _said(delivery: Delivery) -> str:
    if delivery.delivered:
        others = ", ".join(delivery.others)
        doubt = f", unless what Alertmanager counted was a message of {others}" if others else ""
        return f"{delivery.integration}: delivered{doubt}"
    if delivery.failed:
        return f"{delivery.integration}: refused or unreachable ({delivery.failed} tries failed)"
    return f"{delivery.integration}: Alertmanager sent nothing in {_WAIT_SECONDS:g} s"


def _rank(alert: ActiveAlert) -> tuple[int, str, str]:
    severity = alert.labels.get("severity", "")
    place = _ORDER.index(Severity(severity)) if severity in set(Severity) else len(_ORDER)
    return place, alert.starts_at, alert.labels.get("alertname", "")


def _table(alerts: list[ActiveAlert]) -> str:
    if not alerts:
        return "No alert is on; not even Watchdog, which always is: do the rules reach Prometheus and Alertmanager?"
    rows = [
        (
            alert.labels.get("severity", ""),
            alert.labels.get("alertname", ""),
            " ".join(alert.labels[label] for label in _WHO if label in alert.labels),
            _since(alert.starts_at),
            _muted(alert),
            alert.annotations.get("summary", ""),
        )
        for alert in alerts
    ]
    return columns([("SEVERITY", "ALERT", "WHO", "SINCE", "MUTED BY", "SUMMARY"), *rows])


def _muted(alert: ActiveAlert) -> str:
    by = [word for word, ids in (("silence", alert.silenced_by), ("alert", alert.inhibited_by)) if ids]
    return ", ".join(by)


def _since(text: str) -> str:
    try:
        return dt.datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return text


def _plain(alert: ActiveAlert) -> dict[str, object]:
    return {
        "labels": dict(alert.labels),
        "annotations": dict(alert.annotations),
        "state": alert.state,
        "starts_at": alert.starts_at,
        "silenced_by": list(alert.silenced_by),
        "inhibited_by": list(alert.inhibited_by),
    }
