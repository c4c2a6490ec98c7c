"""Prints statements as `alloy fmt` does: from the walk of its printer, and the rules of Go's text/tabwriter.

The printer writes tokens with tabs between the columns; runs of lines end with a form feed, and only lines of one run
have columns in common. Blank lines of the source stay, one at most; a block has one before it.
"""

from collections.abc import Iterator, Sequence

from tests.render.alloy.language import (
    Array,
    Attribute,
    Block,
    Call,
    Literal,
    Node,
    Object,
    Reference,
    Remark,
    Statement,
)

_TAB = "\t"
_Line = tuple[str, bool]
"""A line with a tab between its columns, and whether the run of lines ends with it."""


def printed(statements: Sequence[Statement]) -> str:
    """Return the text of a file."""
    return "".join(f"{line}\n" for line in _aligned(list(_body(statements, 0))))


def _body(statements: Sequence[Statement], depth: int) -> Iterator[_Line]:
    for index, statement in enumerate(statements):
        if index and _is_blank_before(statements[index - 1], statement):
            yield "", True
        if isinstance(statement, Remark):
            yield f"{_TAB * depth}// {statement.text}".rstrip(), True
        elif isinstance(statement, Block):
            yield from _block(statement, depth)
        else:
            lines = _value(statement.value, depth)
            single = len(lines) == 1
            follows = statements[index + 1] if index + 1 < len(statements) else None
            goes_on = single and isinstance(follows, Attribute) and not _is_blank_before(statement, follows)
            yield f"{_TAB * depth}{statement.name}\v= {lines[0][0]}", not goes_on if single else lines[0][1]
            yield from lines[1:-1]
            if not single:
                yield lines[-1][0], True


def _is_blank_before(before: Statement, statement: Statement) -> bool:
    if isinstance(statement, Block) and not isinstance(before, Remark):
        return True
    return statement.line - before.end > 1


def _block(statement: Block, depth: int) -> Iterator[_Line]:
    head = f'{statement.name} "{statement.label}"' if statement.label else statement.name
    indent = _TAB * depth
    if not statement.body:
        yield f"{indent}{head} {{ }}", True
        return
    yield f"{indent}{head} {{", True
    yield from _body(statement.body, depth + 1)
    yield f"{indent}}}", True


def _value(value: Node, depth: int) -> list[_Line]:
    if isinstance(value, Object):
        return _object(value, depth)
    if isinstance(value, Array):
        return _array(value, depth)
    return [(_inline(value), False)]


def _object(value: Object, depth: int) -> list[_Line]:
    if not value.fields:
        return [("{}", False)]
    lines: list[_Line] = [("{", True)]
    for name, each in value.fields:
        inner = _value(each, depth + 1)
        lines.append((f"{_TAB * (depth + 1)}{name}\v= {inner[0][0]}", len(inner) > 1))
        lines.extend(inner[1:])
        lines[-1] = (lines[-1][0] + ",", len(inner) > 1)
    lines[-1] = (lines[-1][0], True)
    return [*lines, (_TAB * depth + "}", True)]


def _array(value: Array, depth: int) -> list[_Line]:
    if value.lines[0] == value.lines[-1]:
        return [(f"[{', '.join(_inline(each) for each in value.elements)}]", False)]
    lines: list[_Line] = [("[", True)]
    for each in value.elements:
        inner = _value(each, depth + 1)
        lines.append((_TAB * (depth + 1) + inner[0][0], True))
        lines.extend(inner[1:])
        lines[-1] = (lines[-1][0] + ",", True)
    return [*lines, (_TAB * depth + "]", True)]


def _inline(value: Node) -> str:
    if isinstance(value, Literal):
        return value.written
    if isinstance(value, Reference):
        return ".".join(value.path)
    if isinstance(value, Call):
        return f"{_inline(value.function)}({', '.join(_inline(each) for each in value.arguments)})"
    if isinstance(value, Object | Array):
        raise TypeError("lists and objects within a line have columns of their own: write each on lines of its own")
    return f"{_inline(value.left)} + {_inline(value.right)}"


def _aligned(lines: Sequence[_Line]) -> Iterator[str]:
    run: list[str] = []
    for text, ends in lines:
        run.append(text)
        if ends:
            yield from _columns(run)
            run = []
    yield from _columns(run)


def _columns(run: Sequence[str]) -> Iterator[str]:
    """Yield lines whose text before a vertical tab is as wide as the widest of those that stand next to each other."""
    start = 0
    while start < len(run):
        end = start
        while end < len(run) and ("\v" in run[end]) == ("\v" in run[start]):
            end += 1
        width = max(len(line.split("\v")[0]) for line in run[start:end])
        for line in run[start:end]:
            name, _, rest = line.partition("\v")
            yield f"{name:{width}} {rest}" if rest else name
        start = end
