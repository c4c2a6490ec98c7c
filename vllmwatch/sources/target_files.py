"""Targets from files in the file_sd form of Prometheus."""

import glob
import json
import os
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from vllmwatch.sources.address import METRICS_PATH, mask_secrets, parse_address, target_from_address
from vllmwatch.sources.discovery import Discovered
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.unicode_text import is_unicode

SIZE_LIMIT_BYTES = 16 * 1024 * 1024
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
_PARAMETER = "__param_"
_NOT_REGULAR = "not a regular file"
# Labels that a series of vLLM's has of its own: one set from outside would take the place of the real one.
_RESERVED = frozenset({"engine", "le", "model_name", "quantile"})


@dataclass(frozen=True, slots=True)
class _Known:
    """The last good targets of a file, the state of the file when it was last looked at, and what was wrong then."""

    state: tuple[int, int, int] | None
    targets: tuple[Target, ...]
    problems: tuple[str, ...]


class FileTargets:
    """The targets in files, read again when a file changes.

    As in Prometheus: a file that is broken, half-written or unreadable keeps the last good list, and a file that is
    gone takes its targets with it, since deleting it is how a deployment tool withdraws them. `patterns` are paths in
    which *, ? and [] are allowed; `node` is the name of this host, for targets on loopback addresses.
    """

    def __init__(self, patterns: Iterable[str], node: str) -> None:
        self._patterns = tuple(patterns)
        self._node = node
        self._known: dict[str, _Known] = {}

    def discover(self) -> Discovered:
        """Return the targets of all files; what is wrong with a file is said as long as it is wrong."""
        problems: list[str] = []
        paths: dict[str, None] = {}
        for pattern in self._patterns:
            matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - patterns may be absolute
            if not matches:
                problems.append(f"{pattern}: no such file of targets")
            paths.update(dict.fromkeys(matches))
        self._known = {path: self._look(path, self._known.get(path)) for path in paths}
        targets = [target for known in self._known.values() for target in known.targets]
        return Discovered(tuple(targets), (*problems, *(p for known in self._known.values() for p in known.problems)))

    def _look(self, path: str, before: _Known | None) -> _Known:
        last_good = before.targets if before is not None else ()
        try:
            status = os.stat(path)  # noqa: PTH116 - the path may be any text that glob returned
            if not stat.S_ISREG(status.st_mode):
                return _Known(None, last_good, (f"{path}: {_NOT_REGULAR}; the last good list stays",))
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
            if before is not None and before.state == state:
                return before
            return _Known(state, *self._read(Path(path)))
        except OSError as error:
            problem = f"{path}: cannot be read: {error.strerror}; the last good list stays"
            return _Known(None, last_good, (problem,))
        except ValueError as error:
            return _Known(state, last_good, (f"{path}: {error}; the last good list stays",))

    def _read(self, path: Path) -> tuple[tuple[Target, ...], tuple[str, ...]]:
        """Return the targets of a file, and the targets in it that are none; raises ValueError for a broken file."""
        content = _content(path)
        targets: list[Target] = []
        problems: list[str] = []
        for group in _groups(_parse(content.decode("utf-8-sig"), json_form=path.suffix == ".json")):
            labels = group["labels"]
            problems += [
                f"{path}: label {name!r} belongs to the series themselves; it is left out"
                for name in sorted(_RESERVED & labels.keys())
            ]
            for address in group["targets"]:
                try:
                    targets.append(self._target(labels | {"__address__": address}))
                except ValueError as error:
                    problems.append(f"{path}: {error}; this target is left out")
        return tuple(targets), tuple(problems)

    def _target(self, labels: dict[str, str]) -> Target:
        if bad := [name for name, value in labels.items() if not is_unicode(value)]:
            raise ValueError(f"{mask_secrets(labels['__address__'])!r}: {bad[0]}: a text in Unicode is asked for")
        path = labels.get("__metrics_path__", METRICS_PATH)
        parameters = "&".join(
            f"{quote(name.removeprefix(_PARAMETER))}={quote(value)}"
            for name, value in labels.items()
            if name.startswith(_PARAMETER)
        )
        address, scheme = labels["__address__"], labels.get("__scheme__", "http")
        if set("/?#") & set(address):
            raise ValueError(f"{mask_secrets(address)!r} is no host:port; the rest goes into __metrics_path__")
        query = f"?{parameters}" if parameters else ""
        parsed = parse_address(f"{scheme}://{address}/{path.lstrip('/')}{query}", exact_path=True)
        exported = {
            name: value for name, value in labels.items() if not name.startswith("__") and name not in _RESERVED
        }
        # `server` and `node` are the names that our series have for what such a label says.
        return target_from_address(
            parsed,
            origin=Origin.FILE_SD,
            this_node=self._node,
            server=exported.pop("server", None),
            node=exported.pop("node", None),
            labels=exported,
        )


def _content(path: Path) -> bytes:
    """Return the bytes of a regular file; whatever else has come to stand there is neither waited for nor read."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as stream:  # noqa: PTH123 - by its descriptor
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError(_NOT_REGULAR)
        content = stream.read(SIZE_LIMIT_BYTES + 1)
    if len(content) > SIZE_LIMIT_BYTES:
        raise ValueError(f"larger than {SIZE_LIMIT_BYTES} bytes")
    return content


def _parse(text: str, *, json_form: bool) -> object:
    if json_form:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"not valid JSON: {error}") from None
    try:
        # Every scalar is a text, as it is for Prometheus: `rack: 010` and `zone: no` keep their letters.
        return yaml.load(text, Loader=yaml.BaseLoader)  # noqa: S506 - it makes texts alone
    except (yaml.YAMLError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" on line {mark.line + 1}" if mark is not None else ""
        raise ValueError(f"not valid YAML{place}: {getattr(error, 'problem', None) or 'it cannot be read'}") from None


def _groups(parsed: object) -> list[dict[str, Any]]:
    """Return the groups of a file once their form is right; a file that ends too early seldom has it."""
    if not isinstance(parsed, list):
        raise ValueError("a list of groups is asked for, each with the key targets")  # noqa: TRY004
    for number, group in enumerate(parsed, 1):
        if not isinstance(group, dict) or group.keys() - {"targets", "labels"}:
            raise ValueError(f"group {number}: the keys targets and labels are asked for")
        # A key with nothing after it is an empty list or mapping, as for Prometheus.
        targets = group["targets"] = group.get("targets") or []
        labels = group["labels"] = group.get("labels") or {}
        if not isinstance(targets, list) or not all(isinstance(entry, str) for entry in targets):
            raise ValueError(f"group {number}: targets: a list of texts host:port is asked for")
        if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
            raise ValueError(f"group {number}: labels: a mapping of names to texts is asked for")
        if bad := [name for name in labels if not _LABEL.fullmatch(str(name))]:
            raise ValueError(f"group {number}: labels: {bad[0]!r} is no name of a label")
    return parsed
