"""Lines of a log: how they begin, what they tell, and what in them nobody may keep; refused when it is nonsense.

Patterns are in the syntax that RE2 and Python's re share: no looking around, no reference back. They are searched for
in a line from which colors and the carriage return at its end were taken.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
# What Python's re has and RE2 has not: groups that look around, references back, possessive and atomic groups.
_NOT_RE2 = re.compile(r"\(\?(?:=|!|<=|<!|>|P=|\()|\\[1-9]|[*+?}]\+")


class LogSource(StrEnum):
    """Whose log it is; the value is the label `job` of its streams in Loki."""

    VLLM = "vllm"
    KERNEL = "kernel"


class Grade(StrEnum):
    """What an event of a log means for the one who reads it."""

    FAULT = "fault"
    HINT = "hint"


def _require(what: str, name: str, pattern: str) -> None:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{what} {name!r}: lower-case words joined by underscores are asked for")
    if _NOT_RE2.search(pattern):
        raise ValueError(f"{what} {name}: {pattern!r} asks for what RE2 does not know")
    re.compile(pattern)


@dataclass(frozen=True, slots=True)
class Prefix:
    """How lines of one kind begin.

    `pattern` has groups by the names in `PREFIX_GROUPS`, `message` among them. `matches` are lines with what the
    groups hold, `misses` lines that do not begin so. `since` says which releases write it.
    """

    name: str
    since: str
    pattern: str
    matches: tuple[tuple[str, Mapping[str, str]], ...] = field(hash=False)
    misses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _require("prefix", self.name, self.pattern)
        groups = set(re.compile(self.pattern).groupindex)
        if "message" not in groups or not groups <= set(PREFIX_GROUPS):
            raise ValueError(f"prefix {self.name}: groups are message and others of {', '.join(PREFIX_GROUPS)}")
        if not self.pattern.startswith("^") or not self.matches:
            raise ValueError(f"prefix {self.name}: it is found at the beginning of a line, and has examples")


PREFIX_GROUPS: tuple[str, ...] = ("lead", "process", "rank", "pid", "level", "time", "source", "message")
"""What a prefix may tell: what others put before it, process, its rank and id, level, time, file and line; the rest."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number in a line: its key in what is parsed (with its unit), where it stands, and the factor to base units.

    `pattern` has one group, which holds the digits; commas between thousands are taken out.
    """

    key: str
    pattern: str
    factor: float = 1.0

    def __post_init__(self) -> None:
        _require("figure", self.key, self.pattern)
        if re.compile(self.pattern).groups != 1:
            raise ValueError(f"figure {self.key}: one group is asked for")


@dataclass(frozen=True, slots=True)
class Milestone:
    """A line of normal life, with the figures that it tells, found each by its own pattern in any order."""

    name: str
    pattern: str
    matches: tuple[tuple[str, Mapping[str, float]], ...] = field(hash=False)
    misses: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()

    def __post_init__(self) -> None:
        _require("milestone", self.name, self.pattern)
        if not self.matches:
            raise ValueError(f"milestone {self.name}: it has examples")


@dataclass(frozen=True, slots=True)
class Event:
    """A line that tells of something that went wrong: `meaning` completes "the log says that …"; `remedy` is advice.

    `matches` are lines that tell of it, `misses` lines that look alike and do not.
    """

    name: str
    source: LogSource
    grade: Grade
    meaning: str
    remedy: str
    pattern: str
    matches: tuple[str, ...]
    misses: tuple[str, ...]

    def __post_init__(self) -> None:
        _require("event", self.name, self.pattern)
        if not self.matches or not self.misses:
            raise ValueError(f"event {self.name}: it has lines that match and lines that do not")
        if self.meaning.endswith(".") or not self.remedy.endswith("."):
            raise ValueError(f"event {self.name}: a clause without a full stop and a sentence with one are asked for")


@dataclass(frozen=True, slots=True)
class Redaction:
    """Something in a line that nobody may keep: what the groups of `pattern` hold is replaced by `REDACTED`.

    A `payload` goes on to the end of what was written: lines without a prefix after it belong to it. `matches` are
    lines, with what is left of each.
    """

    name: str
    what: str
    pattern: str
    matches: tuple[tuple[str, str], ...]
    misses: tuple[str, ...] = ()
    payload: bool = False

    def __post_init__(self) -> None:
        _require("redaction", self.name, self.pattern)
        if not re.compile(self.pattern).groups or not self.matches:
            raise ValueError(f"redaction {self.name}: a group that is replaced, and examples, are asked for")


REDACTED = "[redacted]"
"""What stands where something was that nobody may keep."""


@dataclass(frozen=True, slots=True)
class LogCatalog:
    """All that is known of lines. The first that matches holds, of prefixes, of milestones and of events alike."""

    cleanings: tuple[str, ...]
    """Patterns of what is no text: their groups are taken out, in this order, before anything else."""
    prefixes: tuple[Prefix, ...]
    json_keys: Mapping[str, str] = field(hash=False)
    """Where lines are JSON: the key of each group of a prefix, and of the traceback as `traceback`."""
    levels: Mapping[str, str] = field(hash=False)
    """What each level is called in labels, by how it is written in lines."""
    milestones: tuple[Milestone, ...]
    events: tuple[Event, ...]
    redactions: tuple[Redaction, ...]
    request_id: str
    """The pattern of a request's id in a message, with one group."""
    probe: str
    """The pattern of a message of an access log that nobody needs: a probe or a scrape that was answered well."""
    access: str
    """The pattern of any message of an access log."""

    def __post_init__(self) -> None:
        names = [*(milestone.name for milestone in self.milestones), *(event.name for event in self.events)]
        if len(set(names)) < len(names):
            raise ValueError("a name of a line stands for two")
