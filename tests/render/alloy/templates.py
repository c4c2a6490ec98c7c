"""The part of Go's text/template, and of sprig's functions, that the stages use.

A key that is missing prints as `<no value>` and counts as false, as in a map of Go's.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

_PART = re.compile(r"\{\{ (.*?) \}\}", re.DOTALL)
_WORD = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[()]|:=|[.$]?[A-Za-z_][A-Za-z0-9_]*|[0-9]+)')
_HOURS = re.compile(r"([0-9]+)h")
_LAYOUT = "2006-01-02 15:04:05"
_MISSING = "<no value>"


@dataclass
class Clock:
    """What the clock says, and the zone of the machine."""

    now: datetime = field(default_factory=lambda: datetime(2026, 12, 1, 12, 0, 0, tzinfo=UTC))
    local: tzinfo = UTC

    def zone(self, name: str) -> tzinfo:
        return self.local if name == "Local" else ZoneInfo(name)


@dataclass(frozen=True, slots=True)
class _Branch:
    condition: str
    parts: list["_Node"]


_Node = str | tuple[str, str] | list[_Branch]


def execute(template: str, data: Mapping[str, str], clock: Clock) -> str:
    """Return what a template makes of the data; raises ValueError for what is beyond this part of the language."""
    pieces = _PART.split(template)
    if any("{{" in text or "}}" in text for text in pieces[::2]):
        raise ValueError(f"{template!r}: an action without spaces at its ends, or without an end")
    walk = iter(enumerate(pieces))
    nodes, ending = _parsed(walk)
    if ending:
        raise ValueError(f"{template!r}: {ending!r} without its beginning")
    return _Run(data, clock).text(nodes)


def _parsed(pieces: Iterator[tuple[int, str]]) -> tuple[list[_Node], str]:
    """Return the nodes up to an `else` or `end` that belongs to somebody else, and that."""
    nodes: list[_Node] = []
    for index, piece in pieces:
        if index % 2 == 0:
            nodes.append(piece)
        elif piece.startswith("if "):
            nodes.append(_branches(piece.removeprefix("if "), pieces))
        elif piece == "end" or piece.startswith("else"):
            return nodes, piece
        else:
            nodes.append(("action", piece))
    return nodes, ""


def _branches(condition: str, pieces: Iterator[tuple[int, str]]) -> list[_Branch]:
    branches = []
    while True:
        nodes, ending = _parsed(pieces)
        branches.append(_Branch(condition, nodes))
        if ending == "end":
            return branches
        if not ending.startswith("else"):
            raise ValueError("an if without its end")
        condition = ending.removeprefix("else").strip().removeprefix("if ") or '"always"'


class _Run:
    def __init__(self, data: Mapping[str, str], clock: Clock) -> None:
        self._data = data
        self._variables: dict[str, Any] = {}
        self._functions = _functions(clock)

    def text(self, nodes: Sequence[_Node]) -> str:
        return "".join(self._node(node) for node in nodes)

    def _node(self, node: _Node) -> str:
        if isinstance(node, str):
            return node
        if isinstance(node, tuple):
            return self._action(node[1])
        for branch in node:
            if self._value(branch.condition):
                return self.text(branch.parts)
        return ""

    def _action(self, text: str) -> str:
        name, assigned, rest = text.partition(" := ")
        if assigned:
            self._variables[name] = self._value(rest)
            return ""
        value = self._value(text)
        return _MISSING if value is None else str(value)

    def _value(self, text: str) -> Any:
        words = []
        at = 0
        while at < len(text.rstrip()):
            match = _WORD.match(text, at)
            if match is None:
                raise ValueError(f"{text!r}: {text[at:]!r} is beyond this part of the language")
            words.append(match[1])
            at = match.end()
        value, rest = self._pipeline(words)
        if rest:
            raise ValueError(f"{text!r}: {rest} is left over")
        return value

    def _pipeline(self, words: Sequence[str]) -> tuple[Any, Sequence[str]]:
        """Return the value of words up to the parenthesis that closes them, and what is behind it."""
        operands: list[Any] = []
        function: Callable[..., Any] | None = None
        if words and words[0] in self._functions:
            function, words = self._functions[words[0]], words[1:]
        while words and words[0] != ")":
            operand, words = self._operand(words)
            operands.append(operand)
        if function is not None:
            return function(*operands), words
        if len(operands) != 1:
            raise ValueError(f"{operands}: one value is asked for, or a function")
        return operands[0], words

    def _operand(self, words: Sequence[str]) -> tuple[Any, Sequence[str]]:
        word, rest = words[0], words[1:]
        if word == "(":
            value, rest = self._pipeline(rest)
            return value, rest[1:]
        if word.startswith("."):
            return self._data.get(word[1:]), rest
        if word.startswith("$"):
            return self._variables[word], rest
        if word.startswith('"'):
            return word[1:-1].replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\"), rest
        if word.isdecimal():
            return int(word), rest
        if word in self._functions:
            return self._functions[word](), rest
        raise ValueError(f"{word!r} is beyond this part of the language")


def _functions(clock: Clock) -> dict[str, Callable[..., Any]]:
    return {
        "eq": lambda first, *others: first in others,
        "le": _le,
        "gt": lambda first, second: not _le(first, second),
        "and": lambda *values: next((value for value in values if not value), values[-1]),
        "or": lambda *values: next((value for value in values if value), values[-1]),
        "not": lambda value: not value,
        "add": lambda *values: sum(values),
        "sub": lambda first, second: first - second,
        "atoi": int,
        "substr": lambda start, end, text: text[start:end],
        "printf": _printf,
        "now": lambda: clock.now,
        "dateInZone": lambda layout, time, zone: _formatted(layout, time.astimezone(clock.zone(zone))),
        "dateModify": lambda by, time: time + timedelta(hours=int(_require(_HOURS.fullmatch(by))[1])),
    }


def _le(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        raise TypeError(f"{first!r} and {second!r} are of two kinds")
    return bool(first <= second)


def _printf(layout: str, *values: Any) -> str:
    return layout.replace("%d", "{:d}").replace("%s", "{:s}").format(*values)


def _formatted(layout: str, time: datetime) -> str:
    if layout != _LAYOUT:
        raise ValueError(f"{layout!r} is beyond this part of the language")
    return f"{time:%Y-%m-%d %H:%M:%S}"


def _require(match: re.Match[str] | None) -> re.Match[str]:
    if match is None:
        raise ValueError("a duration in hours is asked for")
    return match
