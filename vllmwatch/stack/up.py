"""`vllmwatch up`: the exporter and Prometheus as child processes, until a signal or the end of one of them."""

import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vllmwatch.errors import StartError, VllmwatchError
from vllmwatch.stack.address import Address, next_free, parse_address
from vllmwatch.stack.child import Child
from vllmwatch.stack.http import is_free, is_ok, read_json
from vllmwatch.stack.prometheus import Say, find
from vllmwatch.stack.prometheus_config import prometheus_command, prometheus_config
from vllmwatch.stack.signals import Requests, requests_by_signal
from vllmwatch.stack.state import StateDirectory
from vllmwatch.stack.summary import summary

DEFAULT_LISTEN = "127.0.0.1:9836"
DEFAULT_PROMETHEUS_PORT = 9090
_POLL_SECONDS = 0.2
# A first sample of a host with many slow targets takes a while; Prometheus reads its log of writes at the start.
_EXPORTER_READY_SECONDS = 60.0
_PROMETHEUS_READY_SECONDS = 300.0
# Prometheus writes its head block when it is asked to end.
_GRACE_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What the user asked for; `listen` is None where the default stands and may move to the next free port.

    `exporter_arguments` are passed on to `vllmwatch exporter` as they are; `retention` is a Prometheus duration.
    `rules` gives the text of each rule file by its name for the exporter at an address, and may raise VllmwatchError
    when the settings cannot be read. `names_prometheus` says that other commands look for Prometheus where it is by
    default: they are to be told where it is.
    """

    state: Path
    listen: str | None = None
    prometheus_port: int = DEFAULT_PROMETHEUS_PORT
    with_prometheus: bool = True
    retention: str = "15d"
    exporter_arguments: tuple[str, ...] = ()
    rules: Callable[[Address], Mapping[str, str]] = lambda _: {}
    names_prometheus: bool = True


class Stack:
    """The children of one `vllmwatch up`; `say` is told each line that the user should read."""

    def __init__(self, options: UpOptions, state: StateDirectory, requests: Requests, say: Say) -> None:
        self._options = options
        self._state = state
        self._requests = requests
        self._say = say
        self._children: list[Child] = []

    def run(self) -> None:
        """Start everything, say what was found, and wait; returns after a signal, raises StartError on a fault."""
        try:
            exporter = self._start_exporter()
            prometheus = self._start_prometheus(exporter) if self._options.with_prometheus else None
            if not self._requests.stop.is_set():
                self._report(exporter, prometheus)
            while not self._requests.stop.wait(_POLL_SECONDS):
                self._check_children()
                self._reload_if_asked(exporter)
            # A terminal that was closed takes no more words.
            with suppress(OSError):
                self._say("Stopping")
        except StartError:
            # Ctrl-C at a terminal reaches the package tools too, and their failure is then no fault.
            if not self._requests.stop.is_set():
                raise
        finally:
            for child in reversed(self._children):
                child.stop(_GRACE_SECONDS)

    def _start_exporter(self) -> Address:
        wanted = parse_address(self._options.listen or DEFAULT_LISTEN)
        address = self._free(wanted, "exporter", "--listen HOST:PORT", movable=self._options.listen is None)
        arguments = ("exporter", "--listen", str(address), *self._options.exporter_arguments)
        self._start("exporter", [sys.executable, "-m", "vllmwatch", *arguments])
        self._wait_ready("exporter", f"{address.url}/-/ready", _EXPORTER_READY_SECONDS)
        return address

    def _start_prometheus(self, exporter: Address) -> Address | None:
        if self._requests.stop.is_set():
            return None
        program = find(self._state.programs, self._say)
        wanted = Address("127.0.0.1", self._options.prometheus_port)
        address = self._free(wanted, "Prometheus", "--prometheus-port PORT", movable=True)
        config, data = self._state.prometheus_config, self._state.prometheus_data
        self._state.write_rules(self._options.rules(exporter))
        config.write_text(prometheus_config(exporter, self._state.rules))
        command = prometheus_command(program, config, data, address, self._options.retention)
        self._say(f"Prometheus {program.version} ({program.path})")
        self._start("prometheus", command)
        self._wait_ready("prometheus", f"{address.url}/-/ready", _PROMETHEUS_READY_SECONDS)
        return address

    def _free(self, wanted: Address, name: str, option: str, *, movable: bool) -> Address:
        address = next_free(wanted, is_free, tries=20 if movable else 1)
        if address is None:
            raise StartError(
                f"the {name} cannot listen on {wanted}: it is taken", hint=f"name another: `vllmwatch up {option}`"
            )
        if address != wanted:
            self._say(f"{wanted} is taken: {name} listens on {address}")
        return address

    def _start(self, name: str, command: Sequence[str]) -> None:
        self._children.append(Child(name, command, self._state.logs / f"{name}.log"))

    def _wait_ready(self, name: str, url: str, timeout_seconds: float) -> None:
        deadline = time.monotonic() + timeout_seconds
        while not is_ok(url):
            self._check_children()
            if self._requests.stop.wait(_POLL_SECONDS):
                return
            if time.monotonic() > deadline:
                raise StartError(
                    f"{name} is not ready after {timeout_seconds:.0f} s ({url})",
                    hint=f"its log: {self._state.logs / name}.log",
                )

    def _check_children(self) -> None:
        for child in self._children:
            if child.exit_status is not None:
                for line in child.last_words():
                    self._say(f"  {child.name}: {line}")
                raise StartError(
                    f"{child.name} ended by itself ({_ending(child.exit_status)})", hint=f"its log: {child.log.path}"
                )

    def _reload_if_asked(self, address: Address) -> None:
        """Pass SIGHUP on once everything is up: before that, the exporter may not know the signal yet."""
        if self._requests.reload.is_set():
            self._requests.reload.clear()
            exporter = self._children[0]
            exporter.send_signal(signal.SIGHUP)
            self._say(f"The exporter reads its configuration again; what it makes of it: {exporter.log.path}")
            for prometheus in self._children[1:]:
                self._reload_rules(prometheus, address)

    def _reload_rules(self, prometheus: Child, exporter: Address) -> None:
        try:
            self._state.write_rules(self._options.rules(exporter))
        except VllmwatchError as error:
            self._say(f"The rules stay as they are: {error.message}")
            return
        prometheus.send_signal(signal.SIGHUP)
        self._say(f"Prometheus reads its rules again; what it makes of them: {prometheus.log.path}")

    def _report(self, exporter: Address, prometheus: Address | None) -> None:
        for line in summary(read_json(f"{exporter.url}/api/v1/fleet")):
            self._say(line)
        self._say(f"Exporter:   {exporter.url}/metrics")
        if prometheus is not None:
            for line in _prometheus_use(prometheus.url):
                self._say(line)
            if self._options.names_prometheus and prometheus.port != DEFAULT_PROMETHEUS_PORT:
                self._say(f"Other commands ask it after: export VLLMWATCH_PROMETHEUS_URL={prometheus.url}")
        self._say(f"New settings are read after: kill -HUP {self._children[0].pid}")
        self._say(f"Logs and data: {self._state.root / 'up'}. Ctrl-C stops everything.")


def _prometheus_use(url: str) -> tuple[str, ...]:
    """Return the address of the page, or a question to ask where the build has no page (newer Debian packages)."""
    if is_ok(f"{url}/"):
        return (f"Prometheus: {url}/",)
    question = f"curl '{url}/api/v1/query?query=vllmwatch_target_up'"
    return ("Prometheus: this build has no page. Ask it questions:", f"  {question}")


def _ending(status: int) -> str:
    return f"exit status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"


def up(options: UpOptions, say: Say) -> None:
    """Run the stack until a signal asks to stop; raises StartError where it cannot start or one of its parts ends."""
    state = StateDirectory(options.state)
    with requests_by_signal(at_terminal=sys.stdin is not None and sys.stdin.isatty()) as requests, state.held():
        Stack(options, state, requests, say).run()
