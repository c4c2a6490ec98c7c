"""Runs the operators of a filelog receiver as the Collector runs them, over RE2.

Written from the operators' pages (pkg/stanza/docs/operators in opentelemetry-collector-contrib), and for the
expressions that are used and no others.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.render.alloy.interpreter import compiled

_REFERENCE = re.compile(r"\$\{([0-9]+)\}")
_TERM = re.compile(r'"(?:[^"\\]|\\.)*"|string\((?P<path>[a-z_.]+) \?\? ""\)')
_CONDITION = re.compile(
    r'(?P<path>[a-z_?.]+) (?P<sign>matches|contains|==|!=|in) (?P<value>"(?:[^"\\]|\\.)*"|nil|\[.*?\])(?: and |$)'
)

PAGES: dict[str, frozenset[str]] = {
    "regex_replace": frozenset({"field", "regex", "replace_with"}),
    "json_parser": frozenset({"parse_from", "parse_to"}),
    "regex_parser": frozenset({"regex", "parse_from", "parse_to"}),
    "time_parser": frozenset({"parse_from", "layout_type", "layout", "location"}),
    "severity_parser": frozenset({"parse_from", "preset", "mapping"}),
    "recombine": frozenset(
        {
            "combine_field",
            "is_first_entry",
            "overwrite_with",
            "max_batch_size",
            "max_unmatched_batch_size",
            "force_flush_period",
        }
    ),
    "filter": frozenset({"expr", "drop_ratio"}),
    "add": frozenset({"field", "value"}),
    "copy": frozenset({"from", "to"}),
    "remove": frozenset({"field"}),
}
"""The fields that the page of each operator names, besides `type`, `id`, `output`, `on_error` and `if`."""
EVERYWHERE: frozenset[str] = frozenset({"type", "on_error", "if"})


@dataclass
class Record:
    """A record of a log on its way."""

    body: str
    attributes: dict[str, Any] = field(default_factory=dict)
    severity: str = ""

    def get(self, path: str) -> Any:
        """Return the value at a path, None where there is none."""
        if path == "body":
            return self.body
        value: Any = self.attributes
        for name in path.replace("?", "").split(".")[1:]:
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def put(self, path: str, value: Any) -> None:
        """Set the value at a path of one name."""
        if path == "body":
            self.body = value
        else:
            self.attributes[path.removeprefix("attributes.")] = value


def run(operators: Iterable[dict[str, Any]], lines: Iterable[str]) -> list[Record]:
    """Return what operators make of the lines of a file, which come at once."""
    records: Iterator[Record] = (Record(line) for line in lines)
    for operator in operators:
        records = _KINDS[operator["type"]](operator, records)
    return list(records)


def holds(condition: str, record: Record) -> bool:
    """Tell whether a condition holds; raises ValueError for one that is beyond what is used."""
    at = 0
    result = True
    while at < len(condition):
        match = _CONDITION.match(condition, at)
        if match is None:
            raise ValueError(f"{condition!r}: {condition[at:]!r} is beyond what is used")
        result = result and _is(record.get(match["path"]), match["sign"], match["value"])
        at = match.end()
    return result


def _is(value: Any, sign: str, written: str) -> bool:
    meant: Any = None if written == "nil" else json.loads(written)
    if sign == "matches":
        return value is not None and compiled(meant).search(value) is not None
    if sign == "contains":
        return meant in value
    if sign == "in":
        return value in meant
    return bool(value == meant) == (sign == "==")


def _evaluated(text: str, record: Record) -> str:
    done = []
    for term in _TERM.finditer(text):
        value = record.get(term["path"]) if term["path"] else json.loads(term[0])
        done.append(str(value if value is not None else ""))
    assert _TERM.sub("", text).replace(" + ", "") == "", text
    return "".join(done)


_Operator = Callable[[dict[str, Any], Iterator[Record]], Iterator[Record]]


def _each(one: Callable[[dict[str, Any], Record], None]) -> _Operator:
    def operator(said: dict[str, Any], records: Iterator[Record]) -> Iterator[Record]:
        for record in records:
            if "if" not in said or holds(said["if"], record):
                one(said, record)
            yield record

    return operator


def _regex_replace(said: dict[str, Any], record: Record) -> None:
    pattern = compiled(said["regex"])
    text = record.get(said["field"])
    done, end = [], 0
    for match in pattern.finditer(text):
        groups = [match.group(number) or "" for number in range(pattern.groups + 1)]
        done.append(text[end : match.start()] + _filled(said["replace_with"], groups))
        end = match.end()
    record.put(said["field"], "".join(done) + text[end:])


def _filled(text: str, groups: list[str]) -> str:
    return _REFERENCE.sub(lambda reference: groups[int(reference[1])], text)


def _regex_parser(said: dict[str, Any], record: Record) -> None:
    pattern = compiled(said["regex"])
    match = pattern.search(record.get(said["parse_from"]))
    if match is not None:
        record.attributes.update({name: match.group(name) or "" for name in pattern.groupindex})


def _json_parser(said: dict[str, Any], record: Record) -> None:
    try:
        found = json.loads(record.body)
    except ValueError:
        return
    if isinstance(found, dict):
        record.put(said["parse_to"], found)


def _add(said: dict[str, Any], record: Record) -> None:
    value = said["value"]
    text = value.removeprefix("EXPR(").removesuffix(")") if value.startswith("EXPR(") else None
    record.put(said["field"], value if text is None else _evaluated(text, record))


def _severity(said: dict[str, Any], record: Record) -> None:
    written = record.get(said["parse_from"])
    record.severity = next((level for level, words in said["mapping"].items() if written in words), "")


def _copy(said: dict[str, Any], record: Record) -> None:
    record.put(said["to"], record.get(said["from"]))


def _remove(said: dict[str, Any], record: Record) -> None:
    record.attributes.pop(said["field"].removeprefix("attributes."))


def _filter(said: dict[str, Any], records: Iterator[Record]) -> Iterator[Record]:
    return (record for record in records if not holds(said["expr"], record))


def _recombine(said: dict[str, Any], records: Iterator[Record]) -> Iterator[Record]:
    """Join records; those before the first that begins one come through alone."""
    assert (said["overwrite_with"], said["max_unmatched_batch_size"]) == ("oldest", 1)
    batch: list[Record] = []
    for record in records:
        if not batch and not holds(said["is_first_entry"], record):
            yield record
            continue
        if batch and (holds(said["is_first_entry"], record) or len(batch) == said["max_batch_size"]):
            yield _joined(batch)
            batch = []
        batch.append(record)
    if batch:
        yield _joined(batch)


def _joined(batch: list[Record]) -> Record:
    return Record("\n".join(record.body for record in batch), dict(batch[0].attributes))


_KINDS: dict[str, _Operator] = {
    "regex_replace": _each(_regex_replace),
    "regex_parser": _each(_regex_parser),
    "json_parser": _each(_json_parser),
    "add": _each(_add),
    "copy": _each(_copy),
    "remove": _each(_remove),
    "severity_parser": _each(_severity),
    "time_parser": _each(lambda said, record: None),
    "filter": _filter,
    "recombine": _recombine,
}
