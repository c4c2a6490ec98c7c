"""Runs the stages of a loki.process, read from its text, as Alloy runs them.

Written from Alloy's sources (internal/component/loki/process/stages): what each stage does without a match, with an
empty group, with a label that is there already. Patterns are RE2's own.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, ClassVar

import re2

from tests.render.alloy.language import Array, Block, Call, Literal, Node, Object, Reference, Statement
from tests.render.alloy.templates import Clock, execute

_SELECTOR = re.compile(r"\{(?P<labels>[^}]*)\}(?P<filters>.*)", re.DOTALL)
_LABEL = re.compile(r'([a-z_]+)(=~|!~|!=|=)"((?:[^"\\]|\\.)*)",?')
_FILTER = re.compile(r'\s*(\|~|\|=|!~|!=) ("(?:[^"\\]|\\.)*")')


@dataclass
class Entry:
    """A line on its way; `read_at` is when it was read, `time` what it is stored under."""

    line: str
    labels: dict[str, str]
    time: datetime
    extracted: dict[str, Any] = field(default_factory=dict)
    metadata: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class World:
    """What is around: variables of the environment, the name of the host, the clock; and what is counted."""

    environment: Mapping[str, str] = field(default_factory=dict)
    hostname: str = "gpu1"
    clock: Clock = field(default_factory=Clock)
    counted: dict[tuple[str, tuple[tuple[str, str], ...]], float] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)


def process(statements: Iterable[Statement], label: str, entries: Iterable[Entry], world: World) -> list[Entry]:
    """Return what a loki.process makes of entries, which come at their times."""
    found = [
        each for each in statements if isinstance(each, Block) and each.name == "loki.process" and each.label == label
    ]
    return list(_Pipeline(found[0], world).run(entries))


def value_of(node: Node, world: World) -> Any:
    """Return the value of an expression; components stay the texts of their names."""
    if isinstance(node, Literal):
        return node.value
    if isinstance(node, Array):
        return [value_of(each, world) for each in node.elements]
    if isinstance(node, Object):
        return {name: value_of(each, world) for name, each in node.fields}
    if isinstance(node, Reference):
        return world.hostname if node.path == ("constants", "hostname") else ".".join(node.path)
    if isinstance(node, Call):
        return _called(".".join(node.function.path), [value_of(each, world) for each in node.arguments], world)
    return value_of(node.left, world) + value_of(node.right, world)


def _called(function: str, arguments: list[Any], world: World) -> Any:
    if function == "sys.env":
        return world.environment.get(arguments[0], "")
    if function == "coalesce":
        return next((each for each in arguments if each), arguments[-1])
    raise ValueError(f"{function} is no function that is known here")


@cache
def compiled(pattern: str) -> Any:
    """Return a pattern of RE2; raises re2.error where it is none."""
    return re2.compile(pattern)


class _Pipeline:
    def __init__(self, block: Block, world: World) -> None:
        self._stages = [_stage(each, world) for each in block.blocks() if each.name.startswith("stage.")]

    def run(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        found: Iterator[Entry] = (self._begun(entry) for entry in entries)
        for stage in self._stages:
            found = stage(found)
        return found

    def _begun(self, entry: Entry) -> Entry:
        entry.extracted.update(entry.labels)
        return entry


_Stage = Callable[[Iterator[Entry]], Iterator[Entry]]


def _stage(block: Block, world: World) -> _Stage:
    arguments = {name: value_of(node, world) for name, node in block.attributes().items()}
    kind = block.name.removeprefix("stage.")
    if kind == "multiline":
        return lambda entries: _multiline(entries, world=world, **arguments)
    if kind == "match":
        return _match(block, arguments["selector"], world)
    if kind == "drop":
        return _drop(world=world, **arguments)
    if kind == "timestamp":
        one: Callable[[Entry], None] = _Timestamp(world.clock, **arguments)
    elif kind == "metrics":
        one = _metrics(block, world)
    elif kind == "template":
        one = _template(world.clock, **arguments)
    elif kind == "replace":
        one = _replace(world.clock, **arguments)
    else:
        one = _ONE[kind](**arguments)

    def each(entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            one(entry)
            yield entry

    return each


def _text(value: Any) -> str | None:
    """Return a value as Alloy writes it; None where it cannot."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return f"{value:.15g}"
    return value if isinstance(value, str) else None


def _input(entry: Entry, source: str) -> str | None:
    return _text(entry.extracted.get(source)) if source else entry.line


def _regex(expression: str, source: str = "") -> Callable[[Entry], None]:
    pattern = compiled(expression)

    def one(entry: Entry) -> None:
        text = _input(entry, source)
        match = None if text is None else pattern.search(text)
        if match is not None:
            for name in pattern.groupindex:
                entry.extracted[name] = match.group(name) or ""

    return one


def _replace(clock: Clock, expression: str, replace: str = "", source: str = "") -> Callable[[Entry], None]:
    pattern = compiled(expression)

    def one(entry: Entry) -> None:
        text = _input(entry, source)
        if text is None or pattern.search(text) is None:
            return
        done, end = [], 0
        for match in pattern.finditer(text):
            for group in range(1, pattern.groups + 1):
                start, stop = match.span(group)
                if start < 0 or (end and end > start):
                    continue
                data = {name: each for name, each in _texts(entry).items() if name != "Value"}
                done.append(text[end:start] + execute(replace, {**data, "Value": text[start:stop]}, clock))
                end = stop
        result = "".join(done) + text[end:]
        if source:
            entry.extracted[source] = result
        else:
            entry.line = result

    return one


def _texts(entry: Entry) -> dict[str, str]:
    found = {name: _text(value) for name, value in entry.extracted.items()}
    return {name: value for name, value in found.items() if value is not None}


def _template(clock: Clock, source: str, template: str) -> Callable[[Entry], None]:
    def one(entry: Entry) -> None:
        data = _texts(entry)
        if source in data:
            data["Value"] = data[source]
        text = execute(template, {**data, "Entry": entry.line}, clock)
        if text:
            entry.extracted[source] = text
        else:
            entry.extracted.pop(source, None)

    return one


def _json(expressions: Mapping[str, str]) -> Callable[[Entry], None]:
    def one(entry: Entry) -> None:
        try:
            record = json.loads(entry.line)
        except ValueError:
            return
        if not isinstance(record, dict):
            return
        for name, key in expressions.items():
            value = record.get(key or name)
            entry.extracted[name] = json.dumps(value) if isinstance(value, dict | list) else value

    return one


def _output(source: str) -> Callable[[Entry], None]:
    def one(entry: Entry) -> None:
        text = _text(entry.extracted.get(source))
        if text is not None:
            entry.line = text

    return one


def _labels(values: Mapping[str, str]) -> Callable[[Entry], None]:
    def one(entry: Entry) -> None:
        for name, source in values.items():
            text = _text(entry.extracted.get(source or name))
            if text is not None:
                entry.labels[name] = text

    return one


def _static_labels(values: Mapping[str, str]) -> Callable[[Entry], None]:
    return lambda entry: entry.labels.update({name: value for name, value in values.items() if value})


def _label_drop(values: Iterable[str]) -> Callable[[Entry], None]:
    def one(entry: Entry) -> None:
        for name in values:
            entry.labels.pop(name, None)

    return one


def _structured_metadata(values: Mapping[str, str]) -> Callable[[Entry], None]:
    def one(entry: Entry) -> None:
        for name, source in values.items():
            text = _text(entry.extracted.get(source or name))
            if text is not None:
                entry.metadata.append((name, text))
        for name, source in values.items():
            if (source or name) in entry.labels:
                entry.metadata.append((name, entry.labels.pop(source or name)))

    return one


_ONE: dict[str, Callable[..., Callable[[Entry], None]]] = {
    "regex": _regex,
    "json": _json,
    "output": _output,
    "labels": _labels,
    "static_labels": _static_labels,
    "label_drop": _label_drop,
    "structured_metadata": _structured_metadata,
}


def _drop(world: World, expression: str, drop_counter_reason: str) -> _Stage:
    pattern = compiled(expression)

    def stage(entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if pattern.search(entry.line) is None:
                yield entry
            else:
                world.dropped[drop_counter_reason] = world.dropped.get(drop_counter_reason, 0) + 1

    return stage


def _match(block: Block, selector: str, world: World) -> _Stage:
    inner = _Pipeline(block, world)
    holds = _selects(selector)

    def stage(entries: Iterator[Entry]) -> Iterator[Entry]:
        for entry in entries:
            if holds(entry):
                yield from inner.run([entry])
            else:
                yield entry

    return stage


def _selects(selector: str) -> Callable[[Entry], bool]:
    parts = _SELECTOR.fullmatch(selector)
    if parts is None or _LABEL.sub("", parts["labels"]) or _FILTER.sub("", parts["filters"]):
        raise ValueError(f"{selector!r} is no selector")
    labels = [(name, sign, json.loads(f'"{text}"')) for name, sign, text in _LABEL.findall(parts["labels"])]
    filters = [(sign, json.loads(text)) for sign, text in _FILTER.findall(parts["filters"])]

    def holds(entry: Entry) -> bool:
        return all(_is_label(entry.labels.get(name, ""), sign, text) for name, sign, text in labels) and all(
            _is_line(entry.line, sign, text) for sign, text in filters
        )

    return holds


def _is_label(value: str, sign: str, text: str) -> bool:
    same = compiled(text).fullmatch(value) is not None if "~" in sign else value == text
    return same != sign.startswith("!")


def _is_line(line: str, sign: str, text: str) -> bool:
    found = compiled(text).search(line) is not None if "~" in sign else text in line
    return found != sign.startswith("!")


def _multiline(
    entries: Iterator[Entry], world: World, firstline: str, max_lines: int = 128, max_wait_time: str = "3s"
) -> Iterator[Entry]:
    """Join lines by their labels; a block is handed out when it is full, or nothing came for a while."""
    pattern = compiled(firstline)
    wait = timedelta(seconds=int(max_wait_time.removesuffix("s")))
    blocks: dict[tuple[tuple[str, str], ...], _Lines] = {}
    for entry in entries:
        yield from (block.flushed() for block in blocks.values() if block.lines and entry.time - block.latest > wait)
        is_first = pattern.search(entry.line) is not None
        key = tuple(sorted(entry.labels.items()))
        if key not in blocks and not is_first:
            yield entry
            continue
        block = blocks.setdefault(key, _Lines(entry))
        if is_first and block.lines:
            yield block.flushed()
        block.add(entry, is_first=is_first)
        if len(block.lines) == max_lines:
            yield block.flushed()
    yield from (block.flushed() for block in blocks.values() if block.lines)


class _Lines:
    def __init__(self, first: Entry) -> None:
        self.first = first
        self.lines: list[str] = []
        self.latest = first.time

    def add(self, entry: Entry, *, is_first: bool) -> None:
        if is_first:
            self.first = entry
        self.lines.append(entry.line.rstrip("\r\n"))
        self.latest = entry.time

    def flushed(self) -> Entry:
        text = "\n".join(self.lines)
        self.lines.clear()
        first = self.first
        return Entry(text, dict(first.labels), first.time, dict(first.extracted), list(first.metadata))


def _metrics(block: Block, world: World) -> Callable[[Entry], None]:
    counters = [
        {name: value_of(node, world) for name, node in each.attributes().items()}
        for each in block.blocks()
        if each.name == "metric.counter"
    ]

    def one(entry: Entry) -> None:
        for counter in counters:
            if counter["source"] in entry.extracted:
                key = (counter["prefix"] + counter["name"], tuple(sorted(entry.labels.items())))
                world.counted[key] = world.counted.get(key, 0) + 1

    return one


class _Timestamp:
    """Gives entries the time that was extracted, or else, as `fudge` says, that of the last one and a moment."""

    # Go reads fractions of a second behind the seconds even where the layout has none.
    _LAYOUTS: ClassVar = {
        "2006-01-02 15:04:05": r"(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})([.,]\d+)?()",
        "2006-01-02 15:04:05Z07:00": r"(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})([.,]\d+)?(Z|[+-]\d{2}:\d{2})",
        "2006-01-02T15:04:05Z07:00": r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})([.,]\d+)?(Z|[+-]\d{2}:\d{2})",
        "2006-01-02T15:04:05": r"(\d{4}-\d{2}-\d{2})T(\d{2}:\d{2}:\d{2})([.,]\d+)?()",
    }

    def __init__(
        self,
        clock: Clock,
        source: str,
        format: str,  # noqa: A002 - Alloy's word
        fallback_formats: list[str],
        location: str,
        action_on_failure: str,
    ) -> None:
        assert action_on_failure == "fudge"
        self._source = source
        self._layouts = [self._LAYOUTS[layout] for layout in (format, *fallback_formats)]
        self._zone = clock.zone(location)
        self._last: dict[tuple[tuple[str, str], ...], datetime] = {}

    def __call__(self, entry: Entry) -> None:
        key = tuple(sorted(entry.labels.items()))
        time = self._read(_text(entry.extracted.get(self._source)) or "")
        if time is None and key in self._last:
            time = self._last[key] + timedelta(microseconds=1)
        if time is not None:
            entry.time = self._last[key] = time

    def _read(self, text: str) -> datetime | None:
        for layout in self._layouts:
            match = re.fullmatch(layout, text)
            if match is None:
                continue
            try:
                time = datetime.fromisoformat(f"{match[1]}T{match[2]}{match[4] or ''}")
            except ValueError:
                return None
            fraction = timedelta(seconds=float(f"0{(match[3] or '.0').replace(',', '.')}"))
            return ((time if time.tzinfo else time.replace(tzinfo=self._zone)) + fraction).astimezone(UTC)
        return None
