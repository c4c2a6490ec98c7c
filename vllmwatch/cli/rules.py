"""`vllmwatch rules`: the rules of Prometheus and the configuration of Alertmanager, by the settings in force."""

from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import Annotated
from urllib.parse import urlsplit

import typer

from vllmwatch.cli.alert_settings import alert_settings, routing, sources
from vllmwatch.cli.files import compared, folder_of, settings_file, written
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.config import Config
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.alertmanager import Routing
from vllmwatch.render.rule_set import rule_set

_FOLDERS = ("rules",)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

Output = Annotated[str, typer.Option("--output", metavar="FOLDER", help="The folder to write to; made where missing.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not as it should be.")]


@with_file
def rules(load: ConfigLoader, *, output: Output, check: Check = False) -> None:
    """Write the rules of Prometheus and the configuration of Alertmanager.

    Thresholds, severities, links and receivers are those of the settings: rules/*.yml for Prometheus 2.53 or newer,
    alertmanager.yml with its template for Alertmanager 0.28 or newer. What a person wrote is never overwritten.
    """
    folder = folder_of("--output", output)
    config = load()
    told = routing(config)
    texts = {path: text.encode() for path, text in rule_set(alert_settings(config), told, sources(config)).items()}
    for warning in _warnings(config, told):
        typer.echo(f"warning: {warning} ({settings_file(config)})", err=True)
    found = (compared if check else written)(folder, texts, _FOLDERS)
    for difference in found if check else ():
        typer.echo(f"{folder / difference.path}: {difference.what}")
    if check and found:
        raise VllmwatchError(
            f"{len(found)} file(s) are not as the settings say",
            hint=f"Run `vllmwatch rules --output {quote(output)}`, then reload Prometheus and Alertmanager.",
        )
    just = "" if check or not found else f", {len(found)} of them just written"
    typer.echo(f"{output}: {len(texts)} files are as the settings say{just}")


def _warnings(config: Config, told: Routing) -> Iterator[str]:
    """Yield what whoever is paged would find out at night."""
    ours = next((team for team in told.teams if team.name == config.team), told.default)
    if not ours.pages:
        yield "no page reaches anybody: set `receivers` and `page_to`"
        return
    for team in told.teams:
        if not team.pages and team is not ours:
            yield f"no page of the team {team.name} reaches anybody: set `page_to` under `teams: {team.name}`"
    for receiver in told.receivers:
        for path in receiver.secret_files:
            if not Path(path).is_file():
                yield f"the receiver {receiver.name} has its secret from {path}, which is not there on this host"
    for key, what in (("runbook_base_url", "runbooks"), ("grafana_url", "boards")):
        if urlsplit(getattr(config, key)).hostname in _LOOPBACK:
            yield f"links to {what} in pages lead to the reader's own machine: set `{key}`"
