"""Reads who is told: receivers by their kinds, teams, and whether each that is named is there."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vllmwatch.catalog.receivers import RECEIVER_KINDS
from vllmwatch.config.given import FaultsError, Given, Held
from vllmwatch.config.structure import mapping, near, parsed
from vllmwatch.config.values import describe, is_web_address, split_address
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.unicode_text import is_line, is_unicode
from vllmwatch.spec.receiver import Receiver, ReceiverKey, ReceiverKind, Team, Value
from vllmwatch.spec.setting import Form

_KINDS = {kind.word: kind for kind in RECEIVER_KINDS}
_TEAM_KEYS = ("page_to", "ticket_to")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_NUMBER_LIMIT = 2**63


def read_receivers(base: Path, given: Given) -> tuple[Receiver, ...]:
    """Return the receivers; paths of their files are taken from `base`."""
    entries = parsed(given, "receivers")
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
    for name, values in mapping(given, "teams", Form.TEAMS).items():
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
            there = f"; there are: {', '.join(names)}" if names else "; `receivers` names none"
            yield f"{where}: there is no receiver {name!r}{near(name, names) or there}"


def _receiver(entry: object, base: Path) -> Receiver:
    if not isinstance(entry, dict):
        raise FaultsError(f"a mapping with the keys name and kind is asked for, not {describe(entry, secret=True)}")
    name, word = entry.get("name"), entry.get("kind")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("name: letters, digits, '_', '.' and '-' are asked for")
    if not isinstance(word, str) or word not in _KINDS:
        raise ValueError(f"kind: one of {', '.join(_KINDS)} is asked for{_meant(word)}")
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
    fault = FaultsError(
        f"{key.key}: {key.value} is asked for, not {describe(value, secret=key.value is not Value.NUMBER)}"
    )
    if key.value is Value.NUMBER:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 < abs(value) < _NUMBER_LIMIT:
            raise fault
        return value
    if not isinstance(value, str) or not value.strip() or not (is_line(value) and is_unicode(value)):
        raise fault
    if not _fits(key.value, value):
        raise fault
    return str(base / Path(value).expanduser()) if key.value is Value.SECRET_FILE else value


def _fits(kind: Value, text: str) -> bool:
    """Tell whether a text is of its kind; an address where a path belongs is the secret itself."""
    if kind is Value.SECRET_FILE:
        return "://" not in text
    if kind is Value.URL:
        return is_web_address(text) and not set("@#") & set(text)
    if kind is Value.HOST_AND_PORT:
        try:
            return all(split_address(text))
        except ValueError:
            return False
    # Alertmanager takes texts for templates, and finds out that one is broken when it is to send.
    return text.count("{{") == text.count("}}")


def _meant(word: object) -> str:
    """Return what was given for the kind of a receiver, or which was meant; an address may hold a secret."""
    if not isinstance(word, str) or "://" in word:
        return f", not {describe(word, secret=True)}"
    part = [kind for kind in _KINDS if word.lower() in kind or kind in word.lower()] if word.strip() else []
    return f", not {word!r}; did you mean {part[0]!r}?" if part else f", not {word!r}{near(word, _KINDS)}"
