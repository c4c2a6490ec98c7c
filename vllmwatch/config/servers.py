"""Reads the setting `servers`: which GPUs carry a server; every fault is a line of its own."""

import difflib

from vllmwatch.catalog.settings import SERVER_KEYS
from vllmwatch.config.given import FaultsError, Given
from vllmwatch.config.values import describe, split_list
from vllmwatch.sources.address import mask_secrets, parse_address, server_name
from vllmwatch.sources.target import ServerGpus
from vllmwatch.sources.unicode_text import is_line, is_unicode
from vllmwatch.spec.setting import Form

# No host has more GPUs; YAML reads a PCI address without a point, such as 18:00, as a number of seconds too.
_MOST_INDEX = 255
_KEYS = tuple(setting.key for setting in SERVER_KEYS)


def read_servers(node: str, given: Given) -> tuple[ServerGpus, ...]:
    """Return the mappings, for a host named `node`; raises FaultsError with all that is wrong."""
    try:
        entries = split_list(given.value) if given.textual and isinstance(given.value, str) else given.value
    except ValueError as error:
        raise FaultsError(f"{given.where}: servers: {error}") from None
    if not isinstance(entries, list | tuple):
        raise FaultsError(f"{given.where}: servers: {Form.SERVERS} is asked for, not {describe(entries)}")
    found: list[ServerGpus] = []
    faults: list[str] = []
    for index, entry in enumerate(entries):
        try:
            found.append(_read_entry(node, entry))
        except ValueError as error:
            faults.append(f"{given.place(index)}: servers[{index}]: {error}")
    named = [entry.server for entry in found]
    faults.extend(
        f"{given.where}: servers: {name!r} stands twice" for name in dict.fromkeys(named) if named.count(name) > 1
    )
    if faults:
        raise FaultsError(*faults)
    return tuple(found)


def _read_entry(node: str, entry: object) -> ServerGpus:
    if not isinstance(entry, dict):
        shown = mask_secrets(entry) if isinstance(entry, str) else entry
        raise FaultsError(f"a mapping with the keys url and gpus is asked for, not {describe(shown)}")
    for key in entry:
        if key not in _KEYS:
            near = difflib.get_close_matches(str(key), _KEYS, n=1)
            raise ValueError(f"unknown key {mask_secrets(str(key))!r}{f'; did you mean {near[0]!r}?' if near else ''}")
    missing = [key for key in _KEYS if key not in entry]
    if missing:
        raise ValueError(f"the key {missing[0]} is missing")
    if not isinstance(entry["url"], str):
        raise FaultsError(f"url: an address is asked for, not {describe(entry['url'])}")
    address = parse_address(entry["url"])
    return ServerGpus(address.url, server_name(address, node), _read_gpus(entry["gpus"]))


def _read_gpus(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list) or not raw:
        raise ValueError(f"gpus: a list of UUIDs, indexes or PCI addresses is asked for, not {describe(raw)}")
    names = []
    for item in raw:
        is_index = isinstance(item, int) and not isinstance(item, bool) and 0 <= item <= _MOST_INDEX
        is_text = isinstance(item, str) and item.strip() and is_line(item) and is_unicode(item)
        if not is_index and not is_text:
            # YAML reads a PCI address such as 0000:01:00.0 as a number of seconds.
            advice = "; put a PCI address in quotes" if isinstance(item, int | float) else ""
            raise ValueError(f"gpus: a UUID, an index or a PCI address is asked for, not {describe(item)}{advice}")
        names.append(str(item).strip())
    if len(set(names)) < len(names):
        raise ValueError("gpus: one stands twice")
    return tuple(names)
