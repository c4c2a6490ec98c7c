"""`vllmwatch up`: options in, the stack out."""

import os
import socket
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from vllmwatch.cli.alert_settings import alert_settings
from vllmwatch.cli.calling import called
from vllmwatch.config import Config, find_file, load_config
from vllmwatch.config.links import runbooks_at
from vllmwatch.render.rule_set import Sources, rule_files
from vllmwatch.stack.address import Address
from vllmwatch.stack.up import DEFAULT_PROMETHEUS_PORT, UpOptions
from vllmwatch.stack.up import up as run_stack

Listen = Annotated[str | None, typer.Option(help="Where the exporter listens (host:port).", show_default=False)]
Targets = Annotated[list[str] | None, typer.Option("--target", help="A vLLM server to scrape; may be repeated.")]
ConfigFile = Annotated[Path | None, typer.Option("--config", help="The configuration file of the exporter.")]
Discover = Annotated[bool, typer.Option(help="Whether the vLLM servers on this host are found by themselves.")]
PrometheusPort = Annotated[int, typer.Option(min=1, max=65535, help="Port of Prometheus; the next free one if taken.")]
WithPrometheus = Annotated[bool, typer.Option("--prometheus/--no-prometheus", help="Whether Prometheus is started.")]
Retention = Annotated[str, typer.Option(help="How long Prometheus keeps samples.")]
State = Annotated[Path, typer.Option(envvar="VLLMWATCH_STATE", help="Folder for programs, data and logs.")]


def up(
    *,
    listen: Listen = None,
    targets: Targets = None,
    config: ConfigFile = None,
    discover: Discover = True,
    prometheus_port: PrometheusPort = DEFAULT_PROMETHEUS_PORT,
    with_prometheus: WithPrometheus = True,
    retention: Retention = "15d",
    state: State = Path(".vllmwatch"),
) -> None:
    """Start the exporter and Prometheus, say which GPUs and vLLM servers were found, and run until Ctrl-C.

    Ended by SIGINT or SIGTERM it exits with 0. SIGHUP makes the exporter read its configuration again where standard
    input is no terminal (a service, nohup); from a terminal it says that the terminal was closed, and everything ends.
    The exporter's process, whose id is printed, always takes SIGHUP to read its configuration again.
    """
    given: dict[str, object] = {} if listen is None else {"listen": listen}
    directory = Path.cwd()
    # Read here too, so that a fault in the configuration is said before anything starts.

    def load() -> Config:
        return load_config(
            {**given, **({"targets": targets} if targets else {})},
            os.environ,
            file=find_file(config, os.environ, directory),
            hostname=socket.gethostname(),
            directory=directory,
        )

    settings = load()
    passed_on = [part for target in targets or [] for part in ("--target", target)]
    passed_on += [] if config is None else ["--config", str(config)]
    passed_on += [] if discover else ["--no-discover"]
    options = UpOptions(
        state=state,
        listen=None if settings.origins["listen"] == "default" else settings.listen,
        prometheus_port=prometheus_port,
        with_prometheus=with_prometheus,
        retention=retention,
        exporter_arguments=tuple(passed_on),
        rules=lambda exporter: _rules(load(), exporter),
        names_prometheus=settings.origins["prometheus_url"] == "default",
    )
    how = called()
    run_stack(options, lambda line: typer.echo(how.copyable(line)))


def _rules(config: Config, exporter: Address) -> Mapping[str, str]:
    """Return the rule files; links lead to the exporter that runs, which may have moved to another port."""
    if config.origins["runbook_base_url"] == "default":
        config = replace(config, runbook_base_url=runbooks_at(exporter.host, exporter.port))
    return rule_files(alert_settings(config), Sources())
