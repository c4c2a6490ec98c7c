"""Alloy's language, read: tokens, statements, expressions; written from the grammar in Alloy's scanner and parser.

A statement ends with its line. Comments stand on lines of their own here, as statements.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*)|(?P<newline>\n)|(?P<space>[ \t\r]+)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9]+)
    |(?P<text>"(?:[^"\\\n]|\\.)*"|`[^`]*`)|(?P<sign>\|\||&&|[!=<>]=|[-+*/%^!<>={}()\[\],.])""",
    re.VERBOSE,
)
# A line that ends with one of these ends a statement.
_ENDS = frozenset({"name", "number", "text"})
_CLOSING = frozenset({"}", ")", "]"})
_ESCAPE = re.compile(r'\\(?:([abfnrtv\\"])|x([0-9a-f]{2})|u([0-9a-f]{4}))')
_PLAIN = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\", '"': '"'}


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Literal:
    """A text or a number: as it is written, and its value."""

    written: str
    value: str | int


@dataclass(frozen=True, slots=True)
class Reference:
    """Names joined by dots."""

    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    function: Reference
    arguments: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Sum:
    left: "Node"
    right: "Node"


@dataclass(frozen=True, slots=True)
class Array:
    elements: tuple["Node", ...]
    lines: tuple[int, ...]
    """The line of the bracket that opens, those on which each element begins and ends in turn, that which closes."""


@dataclass(frozen=True, slots=True)
class Object:
    fields: tuple[tuple[str, "Node"], ...]
    line: int
    end: int


Node = Literal | Reference | Call | Sum | Array | Object


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    value: Node
    line: int
    end: int


@dataclass(frozen=True, slots=True)
class Remark:
    text: str
    line: int

    @property
    def end(self) -> int:
        return self.line


@dataclass(frozen=True, slots=True)
class Block:
    name: str
    label: str
    body: tuple["Statement", ...]
    line: int
    end: int

    def attributes(self) -> dict[str, Node]:
        return {each.name: each.value for each in self.body if isinstance(each, Attribute)}

    def blocks(self) -> list["Block"]:
        return [each for each in self.body if isinstance(each, Block)]


Statement = Attribute | Block | Remark


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens; raises ValueError for what is none."""
    line, at = 1, 0
    before: Token | None = None
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"line {line}: {text[at : at + 20]!r} is no token")
        kind = str(match.lastgroup)
        at = match.end()
        if kind == "newline":
            if before is not None and (before.kind in _ENDS or before.text in _CLOSING):
                before = Token("end", "\n", line)
                yield before
            line += 1
        elif kind != "space":
            token = Token(kind, match[0], line)
            line += match[0].count("\n")
            if kind != "comment":
                before = token
            yield token


def parse(text: str) -> tuple[Statement, ...]:
    """Return the statements of a file; raises ValueError where it is none."""
    return _Parser(list(tokens(text))).file()


class _Parser:
    def __init__(self, found: Sequence[Token]) -> None:
        self._tokens = [*found, Token("eof", "", found[-1].line + 1 if found else 1)]
        self._at = 0

    def file(self) -> tuple[Statement, ...]:
        body = self._body("eof")
        self._take("eof")
        return body

    def _body(self, until: str) -> tuple[Statement, ...]:
        found: list[Statement] = []
        while until not in {self._next.kind, self._next.text}:
            if self._next.kind == "comment":
                found.append(Remark(self._next.text.removeprefix("//").strip(), self._next.line))
                self._at += 1
                continue
            found.append(self._statement())
            self._take("end")
        return tuple(found)

    def _statement(self) -> Attribute | Block:
        first = self._take("name")
        name = first.text
        while self._next.text == ".":
            self._at += 1
            name += f".{self._take('name').text}"
        if self._next.text == "=":
            self._at += 1
            value = self._expression()
            return Attribute(name, value, first.line, self._tokens[self._at - 1].line)
        label = ""
        if self._next.kind == "text":
            label = _value(self._take("text").text)
        self._sign("{")
        body = self._body("}")
        end = self._sign("}")
        return Block(name, label, body, first.line, end.line)

    def _expression(self) -> Node:
        value = self._operand()
        while self._next.text == "+":
            self._at += 1
            value = Sum(value, self._operand())
        return value

    def _operand(self) -> Node:
        token = self._next
        if token.kind == "text":
            self._at += 1
            return Literal(token.text, _value(token.text))
        if token.kind == "number":
            self._at += 1
            return Literal(token.text, int(token.text))
        if token.text == "[":
            return self._array()
        if token.text == "{":
            return self._object()
        return self._reference()

    def _reference(self) -> Node:
        path = [self._take("name").text]
        while self._next.text == ".":
            self._at += 1
            path.append(self._take("name").text)
        if self._next.text != "(":
            return Reference(tuple(path))
        self._sign("(")
        arguments = []
        while self._next.text != ")":
            arguments.append(self._expression())
            if self._next.text != ")":
                self._sign(",")
        self._sign(")")
        return Call(Reference(tuple(path)), tuple(arguments))

    def _array(self) -> Array:
        lines = [self._sign("[").line]
        elements = []
        while self._next.text != "]":
            lines.append(self._next.line)
            elements.append(self._expression())
            lines.append(self._tokens[self._at - 1].line)
            if self._next.text != "]":
                self._sign(",")
        lines.append(self._sign("]").line)
        return Array(tuple(elements), tuple(lines))

    def _object(self) -> Object:
        start = self._sign("{")
        fields = []
        while self._next.text != "}":
            token = self._next
            self._at += 1
            if token.kind not in {"name", "text"}:
                raise ValueError(f"line {token.line}: {token.text!r} is no key")
            self._sign("=")
            fields.append((token.text if token.kind == "name" else _value(token.text), self._expression()))
            if self._next.text != "}":
                self._sign(",")
        return Object(tuple(fields), start.line, self._sign("}").line)

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, kind: str) -> Token:
        token = self._next
        if token.kind != kind:
            raise ValueError(f"line {token.line}: {kind} is asked for, not {token.text!r}")
        self._at += 1
        return token

    def _sign(self, text: str) -> Token:
        token = self._next
        if token.text != text:
            raise ValueError(f"line {token.line}: {text!r} is asked for, not {token.text!r}")
        self._at += 1
        return token


def _value(written: str) -> str:
    if written.startswith("`"):
        return written[1:-1]
    inner = written[1:-1]
    if "\\" in _ESCAPE.sub("", inner):
        raise ValueError(f"{written}: an escape that Alloy does not know")
    return _ESCAPE.sub(lambda match: _PLAIN[match[1]] if match[1] else chr(int(match[2] or match[3], 16)), inner)
