"""Reads the setting `targets`: texts and mappings become Target records; every fault is a line of its own."""

import difflib
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

from vllmwatch.catalog.settings import KEPT_LABELS, TARGET_KEYS
from vllmwatch.config.given import FaultsError, Given
from vllmwatch.config.values import describe, read_value, split_list
from vllmwatch.sources.address import Address, mask_secrets, parse_address, target_from_address
from vllmwatch.sources.target import Access, Origin, Target
from vllmwatch.sources.unicode_text import is_unicode
from vllmwatch.spec.setting import Form, Setting

_KEYS = {setting.key: setting for setting in TARGET_KEYS}
_ACCESS_KEYS = tuple(field.name for field in fields(Access))
_LABEL = re.compile(r"[a-zA-Z][a-zA-Z0-9_]*|_[a-zA-Z0-9][a-zA-Z0-9_]*")


class TargetReader:
    """Reads targets for a host named `node`; paths of files are taken from `base`."""

    def __init__(self, node: str, base: Path) -> None:
        self._node = node
        self._base = base

    def read(self, given: Given) -> tuple[Target, ...]:
        """Return the targets; raises FaultsError with all that is wrong."""
        try:
            entries = split_list(given.value) if given.textual and isinstance(given.value, str) else given.value
        except ValueError as error:
            raise FaultsError(f"{given.where}: targets: {error}") from None
        if not isinstance(entries, list | tuple):
            shown = mask_secrets(entries) if isinstance(entries, str) else entries
            advice = f"; write [{shown}]" if isinstance(entries, str) else ""
            raise FaultsError(f"{given.where}: targets: {Form.TARGETS} is asked for, not {describe(shown)}{advice}")
        faults: list[str] = []
        found: list[tuple[str, Target]] = []
        for index, entry in enumerate(entries):
            try:
                found.append((_place(given, index), self._read_entry(entry, given, index)))
            except FaultsError as error:
                faults.extend(error.faults)
        faults.extend(_name_clashes(found))
        if faults:
            raise FaultsError(*faults)
        return tuple(target for _, target in found)

    def _read_entry(self, entry: object, given: Given, index: int) -> Target:
        place = _place(given, index)
        if isinstance(entry, str):
            return self._make({"url": entry}, place)
        if not isinstance(entry, dict):
            raise FaultsError(f"{place}: an address or a mapping with the key url is asked for, not {describe(entry)}")
        values: dict[str, Any] = {}
        faults: list[str] = []
        for key, raw in entry.items():
            where = given.place(index, str(key))
            try:
                setting = _known(str(key), entry)
                part = Given(raw, where, textual=False)
                values[setting.key] = _read_labels(raw) if setting.form is Form.LABELS else read_value(setting, part)
            except ValueError as error:
                faults.append(f"{where}: targets[{index}].{mask_secrets(str(key))}: {error}")
        if faults:
            raise FaultsError(*faults)
        return self._make(values, place)

    def _make(self, values: dict[str, Any], place: str) -> Target:
        if "url" not in values:
            raise FaultsError(f"{place}: the key url is missing")
        try:
            address = parse_address(values["url"])
            return target_from_address(
                address,
                origin=Origin.STATIC,
                this_node=self._node,
                access=self._access(values, address),
                server=values.get("server"),
                node=values.get("node"),
                labels=values.get("labels"),
            )
        except ValueError as error:
            raise FaultsError(f"{place}: {error}") from None

    def _access(self, values: dict[str, Any], address: Address) -> Access:
        given = {key: values[key] for key in _ACCESS_KEYS if key in values}
        for key, value in given.items():
            if _KEYS[key].form is Form.FILE:
                given[key] = str(self._base / Path(value).expanduser())
        _require_fitting_access(given, address)
        return Access(**given)


def _place(given: Given, index: int) -> str:
    place = given.place(index)
    return f"{place}: targets[{index}]"


def _known(key: str, entry: dict[object, object]) -> Setting:
    if key in _KEYS:
        return _KEYS[key]
    if len(entry) == 1 and isinstance(entry.get(key), int):
        shown = f"{mask_secrets(key)}:{entry[key]}"
        raise ValueError(f"a key of a target is asked for; for an address leave the blank out: {shown}")
    near = difflib.get_close_matches(key, _KEYS, n=1)
    raise ValueError(f"unknown key{f'; did you mean {near[0]!r}?' if near else ''}")


def _read_labels(raw: object) -> dict[str, str]:
    if not isinstance(raw, dict):
        raise FaultsError(f"{Form.LABELS} is asked for, not {describe(raw, secret=True)}")
    for name, value in raw.items():
        if not isinstance(name, str) or not _LABEL.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a label")
        if name in KEPT_LABELS:
            raise ValueError(f"label {name!r} belongs to the series themselves")
        if isinstance(value, str) and not is_unicode(value):
            raise ValueError(f"label {name!r}: a text in Unicode is asked for")
        if not isinstance(value, str):
            raise FaultsError(f"label {name!r}: a text is asked for, not {describe(value)}; put it in quotes")
    return dict(raw)


def _require_fitting_access(given: dict[str, Any], address: Address) -> None:
    for one, other in (("bearer_token", "bearer_token_file"), ("password", "password_file")):
        if one in given and other in given:
            raise ValueError(f"{one} and {other} are both given; one is enough")
    bearer = "bearer_token" in given or "bearer_token_file" in given
    if bearer and "username" in given:
        raise ValueError("a bearer token and a username are both given; a server takes one of them")
    if ("password" in given or "password_file" in given) and not ("username" in given or address.username):
        raise ValueError("a password without a username")
    if "key_file" in given and "cert_file" not in given:
        raise ValueError("key_file without cert_file")
    tls = [key for key in ("ca_file", "cert_file", "insecure_skip_verify") if given.get(key)]
    if address.scheme == "http" and tls:
        raise ValueError(f"{tls[0]} is for https, and the address is http")


def _name_clashes(found: list[tuple[str, Target]]) -> list[str]:
    first: dict[str, tuple[str, Target]] = {}
    faults = []
    for place, target in found:
        if target.server not in first:
            first[target.server] = (place, target)
            continue
        earlier_place, earlier = first[target.server]
        faults.append(
            f"{place}: {mask_secrets(target.url)} and {mask_secrets(earlier.url)} ({earlier_place}) would "
            f"both be the server {target.server!r}; give one of them a name with the key server"
        )
    return faults
