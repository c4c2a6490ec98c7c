"""Patterns of the catalogue in the forms that stages need: with all groups, without names, and over several lines.

A stage sees a record of several lines, where the catalogue speaks of one: `.` and `$` stay within a line, apart from
the message of the first, which goes on to the end.
"""

import re
from collections.abc import Iterable, Sequence

from vllmwatch.render.pattern_parts import groups
from vllmwatch.spec.logline import PREFIX_GROUPS, LogCatalog, Prefix, Redaction

_ENDING = "(?P<message>.*)$"
_ALL = "(?P<message>(?s:.*))"
_NAMED = re.compile(r"\(\?P<[a-z_]+>")
_UNNAMED = re.compile(r"(?<!\\)\((?!\?)")
# The times of a formatter that writes JSON are those of the text, with a year or without.
_JSON_HEAD = (
    r"\((?P<process>[^)\s]*) pid=(?P<pid>[0-9]*)\) (?P<level>[A-Z]*) (?P<time>[0-9][0-9T:.,+Z -]*|) "
    r"\[(?P<source>[^\]\s]*)\] ?"
)
# A line goes on with the one before it where its message is indented, is empty, or begins so.
_GOING_ON = ("Traceback",)

HEAD = "head"
"""The group that holds all that stands before the message."""


def heads(catalog: LogCatalog) -> tuple[str, ...]:
    """Return how each prefix begins, in the order of the catalogue, and how a record of JSON does as text."""
    known = [_head(prefix) for prefix in catalog.prefixes]
    # What is written without a logger comes last: a record of JSON has a process too.
    return (*known[:-1], _JSON_HEAD, known[-1])


def whole(head: str) -> str:
    """Return the pattern of a record that begins so; it has all groups, empty where the head does not have them."""
    missing = "".join(f"(?P<{name}>)" for name in PREFIX_GROUPS if f"(?P<{name}>" not in head + _ALL)
    return f"^(?P<{HEAD}>{head}){_ALL}{missing}$"


def first_line(catalog: LogCatalog) -> str:
    """Return what follows on the lead in the first line of a record: a head, and what does not go on with a line."""
    *of_loggers, alone = _bare_heads(catalog)
    # The head of what no logger wrote is a part of those of loggers, whose lines may go on with the one before.
    levels = [level + end for level in catalog.levels for end in (" ", ":")]
    first = f"(?:{'|'.join(of_loggers)}){_not_beginning(_GOING_ON)}"
    return f"(?:{first}|{alone}{_not_beginning((*_GOING_ON, *levels))})"


def payload_line(catalog: LogCatalog) -> str:
    """Return what follows on the lead in a line in which a user or a model has the word."""
    return f"(?:{'|'.join(_bare_heads(catalog))})(?s:.*?)(?:{payloads(catalog.redactions)})"


def probe(catalog: LogCatalog) -> str:
    """Return the pattern of a line that nobody needs."""
    return f"^(?:{'|'.join(_unnamed(head) for head in heads(catalog))})?{catalog.probe.removeprefix('^')}"


def lines_with(patterns: Iterable[str]) -> str:
    """Return the pattern of whole lines, in a group, in which one of the patterns is found."""
    return f"(?m)(^.*(?:{any_of(patterns)}).*$)"


def any_of(patterns: Iterable[str]) -> str:
    """Return the pattern of what any of the patterns finds."""
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def payloads(redactions: Sequence[Redaction]) -> str:
    """Return the pattern of a text in which a user or a model has the word."""
    return any_of(redaction.pattern for redaction in redactions if redaction.payload)


def named(pattern: str, name: str) -> str:
    """Return a pattern whose one group has a name."""
    return _UNNAMED.sub(f"(?P<{name}>", pattern, count=1)


def printable(pattern: str) -> str:
    """Return a pattern with the escape character spelled."""
    return pattern.replace("\x1b", r"\x1b").replace("\r", r"\r")


def _bare_heads(catalog: LogCatalog) -> list[str]:
    return [_unnamed(_without_lead(head)) for head in heads(catalog)]


def _not_beginning(words: Iterable[str], spaces: str = r"\s", end: str = "") -> str:
    """Return the pattern of the beginning of a text that is no space and none of the words, without looking ahead."""
    rests: dict[str, list[str]] = {}
    for word in words:
        rests.setdefault(word[0], []).append(word[1:])
    others = f"[^{spaces}{''.join(re.escape(character) for character in rests)}]"
    branches = [
        re.escape(character) + _not_beginning(rest, "", "$")
        for character, rest in rests.items()
        if all(rest)  # a word that ends here is one of them, whatever follows
    ]
    return f"(?:{'|'.join([others, *branches, *([end] if end else [])])})"


def _head(prefix: Prefix) -> str:
    if not prefix.pattern.endswith(_ENDING):
        raise ValueError(f"prefix {prefix.name}: {_ENDING} is asked for at its end")
    return prefix.pattern.removeprefix("^").removesuffix(_ENDING)


def _unnamed(pattern: str) -> str:
    return _NAMED.sub("(?:", pattern)


def _without_lead(head: str) -> str:
    """Return a head without what may stand before it, which only the one who runs the server knows."""
    return next((head[:start] + head[end:] for start, end in groups(head) if head.startswith("(?P<lead>", start)), head)
