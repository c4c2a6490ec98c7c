"""`vllmwatch rules`: the rules of Prometheus and the configuration of Alertmanager, by the settings in force."""

from pathlib import Path
from typing import Annotated

import typer

from vllmwatch.cli.alert_settings import alert_settings, routing, sources
from vllmwatch.cli.options import ConfigLoader, with_file
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.artifacts import differences, write
from vllmwatch.render.rule_set import rule_set

Output = Annotated[Path, typer.Option("--output", help="The folder to write to; made where it is not there.")]
Check = Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 when a file is not as it should be.")]


@with_file
def rules(load: ConfigLoader, *, output: Output, check: Check = False) -> None:
    """Write the rules of Prometheus and the configuration of Alertmanager.

    Thresholds, severities, links and receivers are those of the settings: rules/*.yml for Prometheus 2.53 or newer,
    alertmanager.yml with its template for Alertmanager 0.28 or newer.
    """
    config = load()
    told = routing(config)
    texts = {path: text.encode() for path, text in rule_set(alert_settings(config), told, sources(config)).items()}
    if told.tells_nobody:
        typer.echo("warning: no page reaches anybody: set `receivers` and `page_to` (vllmwatch.yml)", err=True)
    try:
        found = differences(output, texts, folders=("rules",)) if check else write(output, texts, folders=("rules",))
    except OSError as error:
        raise VllmwatchError(
            f"{error.filename or output}: cannot be written: {error.strerror}",
            hint="Choose another folder with --output.",
        ) from None
    for difference in found:
        typer.echo(f"{output / difference.path}: {difference.what}{'' if check else ', written'}")
    if check and found:
        raise VllmwatchError(
            f"{len(found)} file(s) are not as the settings say",
            hint=f"Run `vllmwatch rules --output {output}`, then reload Prometheus and Alertmanager.",
        )
    typer.echo(f"{len(texts)} files are up to date")
