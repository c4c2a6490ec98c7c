"""Reads the settings of alerts: thresholds of models, severities, receivers, teams, quiet hours."""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vllmwatch.catalog.alert_names import ALERT_NAMES
from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.catalog.thresholds import THRESHOLDS
from vllmwatch.config.given import FaultsError, Given, Held
from vllmwatch.config.values import describe, split_list
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.unicode_text import is_line, is_unicode
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.receiver import QuietHours, Receiver, ReceiverKey, ReceiverKind, Team, Value
from vllmwatch.spec.setting import Form

_PER_MODEL = {threshold.key: threshold for threshold in THRESHOLDS if threshold.per_model}
_KINDS = {kind.word: kind for kind in RECEIVER_KINDS}
_TEAM_KEYS = ("page_to", "ticket_to")
_HOURS = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2}) (\S+)")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")


def read_models(given: Given) -> dict[str, dict[str, float]]:
    """Return the thresholds of single models."""
    models: dict[str, dict[str, float]] = {}
    faults: list[str] = []
    for model, values in _mapping(given, "models", Form.MODELS).items():
        where = f"{given.place(model)}: models: {model}"
        if not isinstance(values, dict):
            faults.append(f"{where}: a mapping of thresholds is asked for, not {describe(values)}")
            continue
        for key, value in values.items():
            try:
                models.setdefault(model, {})[key] = _threshold(key, value)
            except ValueError as error:
                faults.append(f"{given.place(model, key)}: models: {model}: {error}")
    if faults:
        raise FaultsError(*faults)
    return models


def read_severities(given: Given) -> dict[str, Severity]:
    """Return the severities of single alerts."""
    severities: dict[str, Severity] = {}
    faults: list[str] = []
    for name, value in _mapping(given, "severities", Form.SEVERITIES).items():
        where = f"{given.place(name)}: severities"
        if name not in ALERT_NAMES:
            faults.append(f"{where}: there is no alert {name!r}{_near(name, ALERT_NAMES)}")
        elif not isinstance(value, str) or value not in set(Severity):
            faults.append(f"{where}: {name}: one of {', '.join(Severity)} is asked for, not {describe(value)}")
        else:
            severities[name] = Severity(value)
    if faults:
        raise FaultsError(*faults)
    return severities


def read_receivers(base: Path, given: Given) -> tuple[Receiver, ...]:
    """Return the receivers; paths of their files are taken from `base`."""
    entries = _parsed(given, "receivers")
    if not isinstance(entries, list | tuple):
        raise FaultsError(f"{given.where}: receivers: {Form.RECEIVERS} is asked for, not {describe(entries)}")
    found: list[Receiver] = []
    faults: list[str] = []
    for index, entry in enumerate(entries):
        try:
            found.append(_receiver(entry, base))
        except ValueError as error:
            faults.append(f"{given.place(index)}: receivers[{index}]: {error}")
    names = [receiver.name for receiver in found]
    faults += [
        f"{given.where}: receivers: {name!r} stands twice" for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    if faults:
        raise FaultsError(*faults)
    return tuple(found)


def read_teams(given: Given) -> tuple[Team, ...]:
    """Return who is told of the alerts of single teams."""
    teams: list[Team] = []
    faults: list[str] = []
    for name, values in _mapping(given, "teams", Form.TEAMS).items():
        where = f"{given.place(name)}: teams: {name}"
        if not _NAME.fullmatch(name):
            faults.append(f"{where}: a name of letters, digits, '_', '.' and '-' is asked for")
        elif not isinstance(values, dict) or not set(values) <= set(_TEAM_KEYS):
            faults.append(f"{where}: a mapping with the keys {' and '.join(_TEAM_KEYS)} is asked for")
        else:
            lists = [values.get(key, []) for key in _TEAM_KEYS]
            if all(isinstance(each, list) and all(isinstance(item, str) for item in each) for each in lists):
                teams.append(Team(name, tuple(lists[0]), tuple(lists[1])))
            else:
                faults.append(f"{where}: lists of names of receivers are asked for")
    if faults:
        raise FaultsError(*faults)
    return tuple(teams)


def read_quiet_hours(given: Given) -> QuietHours:
    """Return the hours in which tickets wait."""
    text = given.value
    match = _HOURS.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or not _is_time(match[1], match[2]) or not _is_time(match[3], match[4]):
        raise FaultsError(f"{given.place()}: quiet_hours: {Form.QUIET_HOURS} is asked for, not {describe(text)}")
    start, end = f"{match[1]}:{match[2]}", f"{match[3]}:{match[4]}"
    try:
        ZoneInfo(match[5])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise FaultsError(f"{given.place()}: quiet_hours: there is no time zone {match[5]!r}") from None
    if start == end:
        raise FaultsError(f"{given.place()}: quiet_hours: from {start} to {end} is no time, or all of it")
    return QuietHours(start, end, match[5])


READERS: Mapping[Form, Callable[[Given], object]] = {
    Form.MODELS: read_models,
    Form.SEVERITIES: read_severities,
    Form.TEAMS: read_teams,
    Form.QUIET_HOURS: read_quiet_hours,
}


def require_threshold(key: str, value: object) -> None:
    """Raise ValueError for a threshold that cannot be meant; other settings pass."""
    threshold = next((each for each in THRESHOLDS if each.key == key), None)
    if threshold is not None and isinstance(value, int | float):
        threshold.require(value)


def unknown_receivers(held: Mapping[str, Held]) -> Iterator[str]:
    """Yield a fault for each receiver that is to be told and is not there."""
    receivers: Any = held["receivers"].value
    names = [receiver.name for receiver in receivers]
    teams: Any = held["teams"].value
    for key in ("page_to", "ticket_to"):
        value: Any = held[key].value
        yield from _missing(value, names, f"{held[key].origin}: {key}")
    for team in teams:
        yield from _missing((*team.pages, *team.tickets), names, f"{held['teams'].origin}: teams: {team.name}")
    if heartbeat := held["heartbeat_to"].value:
        yield from _missing((str(heartbeat),), names, f"{held['heartbeat_to'].origin}: heartbeat_to")


def _missing(asked: Iterable[str], names: Sequence[str], where: str) -> Iterator[str]:
    for name in asked:
        if name not in names:
            yield f"{where}: there is no receiver {name!r}{_near(name, names)}"


def _threshold(key: str, value: object) -> float:
    if key not in _PER_MODEL:
        raise ValueError(f"unknown threshold {mask_secrets(str(key))!r}{_near(str(key), _PER_MODEL)}")
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise FaultsError(f"{key}: a number is asked for, not {describe(value)}")
    try:
        _PER_MODEL[key].require(value)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    return float(value)


def _receiver(entry: object, base: Path) -> Receiver:
    if not isinstance(entry, dict):
        raise FaultsError(f"a mapping with the keys name and kind is asked for, not {describe(entry, secret=True)}")
    name, word = entry.get("name"), entry.get("kind")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("name: letters, digits, '_', '.' and '-' are asked for")
    if not isinstance(word, str) or word not in _KINDS:
        raise ValueError(f"kind: one of {', '.join(_KINDS)} is asked for, not {describe(word)}")
    kind = _KINDS[word]
    values = {key: value for key, value in entry.items() if key not in {"name", "kind"}}
    _require_keys(kind, values)
    keys = {key.key: key for key in kind.keys}
    return Receiver(name, kind, {key: _receiver_value(keys[key], value, base) for key, value in values.items()})


def _require_keys(kind: ReceiverKind, values: Mapping[str, object]) -> None:
    known = [key.key for key in kind.keys]
    for key in values:
        if key not in known:
            # A secret written where its file belongs must not be shown.
            near = difflib.get_close_matches(str(key), known, n=1, cutoff=0.5)
            advice = f"; did you mean {near[0]!r}?" if near else f"; {kind.word} has {', '.join(known)}"
            raise ValueError(f"unknown key {mask_secrets(str(key))!r}{advice}")
    for wanted in kind.keys:
        if wanted.required and wanted.key not in values:
            raise ValueError(f"the key {wanted.key} is missing")
    if kind.one_of and len(set(kind.one_of) & set(values)) != 1:
        raise ValueError(f"one of the keys {' and '.join(kind.one_of)} is asked for")


def _receiver_value(key: ReceiverKey, value: object, base: Path) -> str | int:
    if key.value is Value.NUMBER:
        if not isinstance(value, int) or isinstance(value, bool):
            raise FaultsError(f"{key.key}: {key.value} is asked for, not {describe(value)}")
        return value
    if not isinstance(value, str) or not value.strip() or not (is_line(value) and is_unicode(value)):
        raise FaultsError(f"{key.key}: {key.value} is asked for, not {describe(value, secret=True)}")
    return str(base / Path(value).expanduser()) if key.value is Value.SECRET_FILE else value


def _mapping(given: Given, key: str, form: Form) -> dict[str, Any]:
    value = _parsed(given, key)
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise FaultsError(f"{given.where}: {key}: {form} is asked for, not {describe(value)}")
    return value


def _parsed(given: Given, key: str) -> object:
    """Return what was given; from a place that holds nothing but text, what that text says in JSON."""
    if not given.textual or not isinstance(given.value, str):
        return given.value
    try:
        return split_list(given.value) if given.value.lstrip().startswith("[") else json.loads(given.value)
    except ValueError:
        raise FaultsError(f"{given.where}: {key}: JSON is asked for, and this is none") from None


def _is_time(hours: str, minutes: str) -> bool:
    return int(hours) < 24 and int(minutes) < 60  # noqa: PLR2004  a clock's


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
