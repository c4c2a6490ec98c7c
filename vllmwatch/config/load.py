"""From options, environment and file to one Config, or to one error that names every fault."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vllmwatch.catalog.settings import SETTINGS
from vllmwatch.config.alerting import faults_of_edges, read_models, read_quiet_hours, read_severities, require_threshold
from vllmwatch.config.allowed import require_allowed, texts
from vllmwatch.config.file import ConfigFile, read_config_file
from vllmwatch.config.given import FaultsError, Given, Held
from vllmwatch.config.links import runbooks_at
from vllmwatch.config.logs import LOG_KINDS, read_logs
from vllmwatch.config.model import Config, build_model, given_by_environment
from vllmwatch.config.receivers import read_receivers, read_teams, unknown_receivers
from vllmwatch.config.servers import read_servers
from vllmwatch.config.targets import TargetReader
from vllmwatch.config.values import read_value, split_address
from vllmwatch.errors import ConfigError
from vllmwatch.sources.address import mask_secrets
from vllmwatch.spec.setting import CALLER_VARIABLE, ENVIRONMENT_PREFIX, MAPPINGS, Form, Setting

FILE_VARIABLE = "VLLMWATCH_CONFIG"
STATE_VARIABLE = "VLLMWATCH_STATE"
FILE_NAME = "vllmwatch.yml"
SYSTEM_FILE = Path("/etc/vllmwatch/vllmwatch.yml")
# Read by the project's own tests and stand-ins, never by the product.
_FOREIGN_PREFIXES = ("VLLMWATCH_FAKE_", "VLLMWATCH_TEST_")
# Kubernetes gives every container variables for each Service of its namespace, so that a Service called vllmwatch or
# vllmwatch-exporter makes these. VLLMWATCH_PORT alone is theirs when its value is an address.
_SERVICE_LINK = re.compile(r"VLLMWATCH_(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)")
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://\S+")
_HINT = "See docs/reference/settings.md for every setting."
_STRUCTURED: Mapping[Form, Callable[[Given], object]] = {
    Form.MODELS: read_models,
    Form.QUIET_HOURS: read_quiet_hours,
    Form.SEVERITIES: read_severities,
    Form.TEAMS: read_teams,
}
_BY_KEY = {setting.key: setting for setting in SETTINGS}


def find_file(
    chosen: Path | None, environment: Mapping[str, str], directory: Path, system_file: Path = SYSTEM_FILE
) -> Path | None:
    """Return the configuration file to read: `chosen`, else VLLMWATCH_CONFIG, else the first usual one that is there.

    The usual ones are vllmwatch.yml in `directory` and the system's; None when there is none.
    """
    if chosen is not None:
        return chosen
    if named := environment.get(FILE_VARIABLE):
        return Path(named)
    usual = (directory / FILE_NAME, system_file)
    return next((path for path in usual if path.exists()), None)


def load_config(
    options: Mapping[str, object],
    environment: Mapping[str, str],
    *,
    file: Path | None,
    hostname: str,
    directory: Path,
) -> Config:
    """Return the settings in force: `options` (by key) win over `environment`, that over `file`, that over defaults.

    `file` is what find_file returned; `hostname` is the default node; relative paths are taken from the file's own
    folder, or from `directory` when they come from elsewhere. Raises ConfigError, whose message has a line a fault.
    """
    content = read_config_file(file) if file is not None else ConfigFile("")
    faults = [*_unknown_variables(environment), *_unknown_keys(content)]
    node = _node_in_force(options, environment, content, hostname)
    readers = _Readers(node, directory if file is None else file.parent, directory)
    by_key = {setting.key: readers.of(setting) for setting in SETTINGS}
    model = build_model(SETTINGS, by_key, environment, content)
    given: dict[str, Any] = {
        key: Given(raw, _option_place(_BY_KEY[key], raw), textual=True) for key, raw in options.items()
    }
    held: dict[str, Held] = {}
    try:
        held = dict(model(**given))
    except ValidationError as error:
        for entry in error.errors():
            faults.extend(str(entry["ctx"]["error"]).splitlines())
    faults.extend(_faults_without_effect(by_key, options, environment, content))
    if not faults:
        faults.extend(_contradictions(held))
    if faults:
        raise ConfigError("\n".join(faults), hint=_HINT)
    return _freeze(held, hostname, file)


def _faults_without_effect(
    readers: Mapping[str, Callable[[Given], object]],
    options: Mapping[str, object],
    environment: Mapping[str, str],
    content: ConfigFile,
) -> Iterable[str]:
    """Yield what is wrong with values that lose: it would come into force the day that the winner is left out."""
    for key, read in readers.items():
        from_environment = given_by_environment(_BY_KEY[key], environment.get(_BY_KEY[key].environment))
        losers = [from_environment] if from_environment is not None and key in options else []
        if key in content.values and (key in options or from_environment is not None):
            losers.append(content.given(key))
        for given in losers:
            try:
                read(given)
            except FaultsError as error:
                yield from error.faults


class _Readers:
    """One function a setting that reads what was given, its faults prefixed with their place."""

    def __init__(self, node: str, file_directory: Path, directory: Path) -> None:
        self._node = node
        self._file_directory = file_directory
        self._directory = directory

    def of(self, setting: Setting) -> Callable[[Given], object]:
        if setting.form is Form.TARGETS:
            return self._targets
        if setting.form is Form.SERVERS:
            return partial(read_servers, self._node)
        if setting.form is Form.RECEIVERS:
            return lambda given: read_receivers(self._base(given), given)
        if setting.form in _STRUCTURED:
            return _STRUCTURED[setting.form]
        return partial(self._plain, setting)

    def _targets(self, given: Given) -> object:
        return TargetReader(self._node, self._base(given)).read(given)

    def _plain(self, setting: Setting, given: Given) -> object:
        try:
            value = read_value(setting, given)
            if setting.key == "target_files":
                return tuple(str(self._base(given) / Path(text).expanduser()) for text in texts(value))
            if setting.key in LOG_KINDS:
                return read_logs(LOG_KINDS[setting.key], texts(value), self._base(given))
            require_allowed(setting, value)
            require_threshold(setting.key, value)
        except ValueError as error:
            name = f"{setting.key}: " if given.file is not None else ""
            raise FaultsError(f"{given.place()}: {name}{error}") from None
        return value

    def _base(self, given: Given) -> Path:
        return self._file_directory if given.file is not None else self._directory


def _node_in_force(
    options: Mapping[str, object], environment: Mapping[str, str], content: ConfigFile, hostname: str
) -> str:
    """Return the node before the rest is read, since the names of targets on loopback addresses need it."""
    setting = _BY_KEY["node"]
    for raw in (options.get("node"), environment.get(setting.environment), content.values.get("node")):
        if isinstance(raw, str) and raw:
            return raw
    return hostname


def _option_place(setting: Setting, raw: object) -> str:
    option = setting.option or f"option {setting.key}"
    return option.replace("--", "--no-", 1) if raw is False else option


def _unknown_variables(environment: Mapping[str, str]) -> Iterable[str]:
    known = [setting.environment for setting in SETTINGS]
    for name in sorted(environment):
        if not name.startswith(ENVIRONMENT_PREFIX) or name in {*known, FILE_VARIABLE, STATE_VARIABLE, CALLER_VARIABLE}:
            continue
        if not _is_foreign(name, environment[name]):
            near = difflib.get_close_matches(
                name.removeprefix(ENVIRONMENT_PREFIX), [key.upper() for key in _BY_KEY], n=1
            )
            yield f"{name}: unknown variable{f'; did you mean {ENVIRONMENT_PREFIX}{near[0]}?' if near else ''}"


def _is_foreign(name: str, text: str) -> bool:
    """Tell whether a variable with our prefix is somebody else's."""
    if name.startswith(_FOREIGN_PREFIXES) or _SERVICE_LINK.fullmatch(name):
        return True
    return name.endswith("_PORT") and _SERVICE_ADDRESS.fullmatch(text) is not None


def _unknown_keys(content: ConfigFile) -> Iterable[str]:
    for key in content.values:
        if key not in _BY_KEY:
            near = difflib.get_close_matches(key, _BY_KEY, n=1)
            mend = f"; did you mean {near[0]!r}?" if near else ""
            yield f"{content.path}:{content.lines[key,]}: unknown key {mask_secrets(key)!r}{mend}"


def _contradictions(held: Mapping[str, Held]) -> Iterable[str]:
    offset, timeout = held["scrape_timeout_offset_seconds"], held["scrape_timeout_seconds"]
    if offset.number >= timeout.number:
        yield (
            f"{offset.origin}: scrape_timeout_offset_seconds ({offset.number:g}) must be less than "
            f"scrape_timeout_seconds ({timeout.number:g}, from {timeout.origin})"
        )
    yield from unknown_receivers(held)
    yield from faults_of_edges(held)


def _freeze(held: Mapping[str, Held], hostname: str, file: Path | None) -> Config:
    values: dict[str, Any] = {key: entry.value for key, entry in held.items()}
    values["node"] = values["node"] or hostname
    values |= {setting.key: {} for setting in SETTINGS if setting.form in MAPPINGS and not values[setting.key]}
    values["teams"] = values["teams"] or ()
    host, port = split_address(values["listen"])
    values["runbook_base_url"] = values["runbook_base_url"] or runbooks_at(host, port)
    origins = {key: entry.origin for key, entry in held.items()}
    # Written without a host, an address means all of them, as in Prometheus.
    return Config(**values, listen_host=host or "0.0.0.0", listen_port=port, origins=origins, file=file)
