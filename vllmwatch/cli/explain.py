"""`vllmwatch explain`: the runbook of an alert."""

from typing import Annotated

import typer

from vllmwatch.catalog.alerts import ALERTS, RUNBOOKS
from vllmwatch.cli.alert_name import known_alert, near_alert
from vllmwatch.cli.alert_settings import alert_settings
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.runbooks import render_runbook

Name = Annotated[
    str, typer.Argument(metavar="NAME", help="The name of the alert, such as GpuLost.", show_default=False)
]


@with_file
def explain(load: ConfigLoader, *, name: Name = "") -> None:
    """Print what an alert means, where to look first and what to do; without a name, all alerts."""
    settings = alert_settings(load())
    if not name:
        for alert in ALERTS:
            typer.echo(f"{alert.name:<32} {RUNBOOKS[alert.name].strip().partition(chr(10))[0]}")
        return
    wanted = known_alert(name)
    if wanted is None:
        near = near_alert(name)
        hint = f"Did you mean {near}?" if near else "Run `vllmwatch explain` for the names of all."
        raise VllmwatchError(f"there is no alert {name!r}", hint=hint)
    alert = next(alert for alert in ALERTS if alert.name == wanted)
    # The first line says that the page is generated, which is true of the file and not of what is printed.
    typer.echo(render_runbook(alert, RUNBOOKS[alert.name], settings).partition("\n")[2].strip())
