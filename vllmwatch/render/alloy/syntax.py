"""Alloy's language: blocks, attributes and values, written as `alloy fmt` would write them.

Rules of the format: tabs; the signs of equality of attributes on consecutive lines stand below each other, up to one
that takes several lines; a blank line before each block that is not the first of its body.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression that is written as it stands: a reference, or a call."""

    text: str

    def __add__(self, other: "Expression") -> "Expression":
        return Expression(f"{self.text} + {other.text}")


Value = str | int | bool | Expression | Sequence["Value"] | Mapping[str, "Value"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """A name and its value."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark about the statement below it; each line of the text is one."""

    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block: its name with dots, its label where it has one, and what is in it."""

    name: str
    label: str
    body: tuple["Statement", ...] = ()


Statement = Attribute | Block | Comment


def block(name: str, /, *blocks: Block | Comment, label: str = "", **attributes: Value) -> Block:
    """Return a block with its attributes, in the order of the arguments, before its blocks."""
    return Block(name, label, (*(Attribute(key, value) for key, value in attributes.items()), *blocks))


def write(statements: Sequence[Statement]) -> str:
    """Return the text of a file; raises ValueError for a label or a name that Alloy refuses."""
    return "".join(f"{line}\n" for line in _body(statements, 0))


def quote(text: str) -> str:
    """Return a text as a literal, as it is between backticks where that spares escapes."""
    if ('"' in text or "\\" in text) and "`" not in text and text.isprintable():
        return f"`{text}`"
    return selector_text(text)


def selector_text(text: str) -> str:
    """Return a text as it stands in a selector, which knows no backticks."""
    return f'"{"".join(_ESCAPES.get(character, character) for character in text)}"'


def _body(statements: Sequence[Statement], depth: int) -> Iterator[str]:
    indent = "\t" * depth
    for index, statement in enumerate(statements):
        before = statements[index - 1] if index else None
        if isinstance(statement, Attribute):
            if isinstance(before, Attribute):
                continue  # written with the first of them
            if before is not None and not isinstance(before, Comment):
                yield ""
            yield from _attributes(_run(statements, index), depth)
            continue
        if before is not None and not isinstance(before, Comment):
            yield ""
        if isinstance(statement, Comment):
            yield from (f"{indent}// {line}" for line in statement.text.splitlines())
        else:
            yield from _block(statement, depth)


def _run(statements: Sequence[Statement], start: int) -> list[Attribute]:
    run = []
    for statement in statements[start:]:
        if not isinstance(statement, Attribute):
            break
        run.append(statement)
    return run


def _block(statement: Block, depth: int) -> Iterator[str]:
    indent = "\t" * depth
    for part in (*statement.name.split("."), *([statement.label] if statement.label else [])):
        if not _NAME.fullmatch(part):
            raise ValueError(f"{statement.name} {statement.label!r}: {part!r} is no name in Alloy")
    head = f"{statement.name} {quote(statement.label)}" if statement.label else statement.name
    if not statement.body:
        yield f"{indent}{head} {{ }}"
        return
    yield f"{indent}{head} {{"
    yield from _body(statement.body, depth + 1)
    yield f"{indent}}}"


def _attributes(attributes: Sequence[Attribute], depth: int) -> Iterator[str]:
    yield from _aligned([(attribute.name, attribute.value) for attribute in attributes], depth, "")


def _aligned(pairs: Sequence[tuple[str, Value]], depth: int, end: str) -> Iterator[str]:
    """Yield names and values, aligned in runs that end with a value of several lines."""
    run: list[tuple[str, list[str]]] = []
    for index, (name, value) in enumerate(pairs):
        run.append((name, list(_value(value, depth))))
        if len(run[-1][1]) > 1 or index == len(pairs) - 1:
            width = max(len(each) for each, _ in run)
            for each, lines in run:
                yield from _with_end(["\t" * depth + f"{each:{width}} = {lines[0]}", *lines[1:]], end)
            run = []


def _with_end(lines: Sequence[str], end: str) -> list[str]:
    return [*lines[:-1], lines[-1] + end]


def _value(value: Value, depth: int) -> Iterator[str]:
    """Yield the lines of a value: the first without an indentation, the others with theirs."""
    if isinstance(value, Expression):
        yield value.text
    elif isinstance(value, str):
        yield quote(value)
    elif isinstance(value, bool | int):
        yield str(value).lower()
    elif not value:
        yield "{}" if isinstance(value, Mapping) else "[]"
    elif isinstance(value, Mapping):
        yield "{"
        keys = {key: key if _NAME.fullmatch(key) else quote(key) for key in value}
        yield from _aligned([(keys[key], each) for key, each in value.items()], depth + 1, ",")
        yield "\t" * depth + "}"
    else:
        yield from _list(value, depth)


def _list(values: Sequence[Value], depth: int) -> Iterator[str]:
    if not any(isinstance(each, Mapping) for each in values):
        yield f"[{', '.join(line for each in values for line in _value(each, depth))}]"
        return
    yield "["
    for each in values:
        lines = list(_value(each, depth + 1))
        yield from _with_end(["\t" * (depth + 1) + lines[0], *lines[1:]], ",")
    yield "\t" * depth + "]"
