"""One line of a log, read: who wrote it, when, how grave it is, what it tells; secrets taken out, unknown lines kept.

A reader serves one stream of lines, since what follows a prompt that was cut in pieces must not be kept either.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from vllmwatch.sources.logs.redact import Redactor, replace_groups
from vllmwatch.spec.logline import REDACTED, Figure, LogCatalog

UNKNOWN = "raw"
JSON = "json"
_NUMBER_SEPARATOR = ","
_DIGIT = re.compile("[0-9]")
_OF_A_RECORD = ("process", "pid", "level", "time", "source")
# So much of a line is looked at: what tells of an event stands near its beginning, and lines may be megabytes long.
_LONGEST = 65536


@dataclass(frozen=True, slots=True)
class ParsedLine:
    """A line of a log.

    `shape` is the name of its prefix, `json`, or `raw` where it has none that is known. `level` is in lower case, empty
    where the line does not say. `time_text` is the time as written. `name` is the milestone that the line tells of,
    `figures` are its numbers in base units; `event` is the event. `probe` marks lines of an access log that nobody
    needs. `payload` marks what belongs to the text of a user or a model. `more` says that the line ends as lines do in
    the middle of what a logger writes at once. `redacted` is the whole line.
    """

    shape: str
    process: str
    rank: str
    pid: int | None
    level: str
    time_text: str
    source: str
    message: str
    redacted: str
    name: str = ""
    figures: Mapping[str, float] = field(default_factory=dict, hash=False)
    event: str = ""
    request_id: str = ""
    probe: bool = False
    payload: bool = False
    more: bool = False

    @property
    def head(self) -> bool:
        """Whether the line begins as lines of a logger do."""
        return self.shape != UNKNOWN

    @property
    def key(self) -> tuple[str, int | None, str, str, str]:
        """What all lines of one record share: its process, level, time and source."""
        return (self.process, self.pid, self.level, self.time_text, self.source)


class LineReader:
    """Reads the lines of one stream, one after the other."""

    def __init__(self, catalog: LogCatalog, *, keep_payloads: bool = False) -> None:
        self._catalog = catalog
        self._redactor = Redactor([each for each in catalog.redactions if not (keep_payloads and each.payload)])
        self._cleanings = [re.compile(pattern) for pattern in catalog.cleanings]
        self._prefixes = [(each.name, re.compile(each.pattern)) for each in catalog.prefixes]
        self._milestones = [
            (each.name, re.compile(each.pattern), [(figure, re.compile(figure.pattern)) for figure in each.figures])
            for each in catalog.milestones
        ]
        self._events = [(each.name, re.compile(each.pattern)) for each in catalog.events]
        self._any_event = re.compile("|".join(f"(?:{each.pattern})" for each in catalog.events))
        self._any_milestone = re.compile("|".join(f"(?:{each.pattern})" for each in catalog.milestones))
        self._request_id = re.compile(catalog.request_id)
        self._probe = re.compile(catalog.probe)
        self._access = re.compile(catalog.access)
        self._in_payload = False
        self._lead = ""
        self._head: tuple[str | None, ...] = ()
        self._more = False

    def read(self, text: str) -> ParsedLine:
        """Return what a line says; the line has no newline at its end."""
        more = text.endswith("\r")
        text = self._clean(text[:_LONGEST])
        found = self._json(text) or self._text(text)
        self._in_payload, self._more = found.payload, more
        groups = found.groups
        pid = groups.get("pid") or ""
        line = ParsedLine(
            shape=found.shape,
            process=groups.get("process") or "",
            rank=groups.get("rank") or "",
            pid=int(pid) if pid.isdecimal() else None,
            level=self._catalog.levels.get(groups.get("level") or "", ""),
            time_text=groups.get("time") or "",
            source=groups.get("source") or "",
            message=groups["message"] or "",
            redacted=found.redacted,
            payload=found.payload,
            more=more,
        )
        return self._told(line)

    def _clean(self, text: str) -> str:
        for pattern in self._cleanings:
            text = replace_groups(pattern, text, "")
        return text

    def _text(self, text: str) -> "_Found":
        """Read a line of text; secrets go first, since what users wrote may look like a prefix."""
        redacted = self._redactor.redact(text)
        for shape, pattern in self._prefixes:
            match = pattern.match(redacted.text)
            if match is None:
                continue
            groups = match.groupdict()
            lead = _DIGIT.sub("0", groups.get("lead") or "")
            # What looks like a prefix in the midst of a piece of a prompt may be the user's.
            if self._in_payload and lead not in ("", self._lead):
                continue
            self._lead = lead
            head = tuple(groups.get(name) for name in _OF_A_RECORD)
            if self._in_payload and self._more and head == self._head:  # the rest of what began on the line before
                rest = groups | {"message": REDACTED}
                return _Found(shape, rest, redacted.text[: match.start("message")] + REDACTED, payload=True)
            self._head = head
            return _Found(shape, groups, redacted.text, payload=redacted.payload)
        if self._in_payload:
            return _Found(UNKNOWN, {"message": REDACTED}, REDACTED, payload=True)
        return _Found(UNKNOWN, {"message": redacted.text}, redacted.text, payload=redacted.payload)

    def _json(self, text: str) -> "_Found | None":
        keys = self._catalog.json_keys
        if not text.startswith("{") or keys["level"] not in text:
            return None
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            return None
        if not isinstance(record, dict) or not isinstance(record.get(keys["message"]), str):
            return None
        values = {group: str(record[key]) for group, key in keys.items() if record.get(key) is not None}
        redacted = self._redactor.redact(values["message"])
        traceback = self._redactor.redact(values.pop("traceback", "")).text
        groups = {**values, "message": redacted.text + (f"\n{traceback}" if traceback else "")}
        return _Found(JSON, groups, _as_text(groups), payload=redacted.payload)

    def _told(self, line: ParsedLine) -> ParsedLine:
        """Add what the message tells, milestones and events alike, to a line; nothing within a payload tells any."""
        message = line.message
        if self._access.match(message):
            return _with(line, name="access", probe=bool(self._probe.match(message)))
        name = ""
        figures: dict[str, float] = {}
        if self._any_milestone.search(message):
            name, figures = self._milestone(message)
        event = ""
        if not name and self._any_event.search(message):
            event = next(known for known, pattern in self._events if pattern.search(message))
        request_id = self._request_id.search(message)
        if not (name or event or request_id):
            return line
        return _with(line, name=name, figures=figures, event=event, request_id=request_id[1] if request_id else "")

    def _milestone(self, message: str) -> tuple[str, dict[str, float]]:
        for name, pattern, figures in self._milestones:
            if pattern.search(message):
                return name, dict(chain.from_iterable(_figure(message, *figure) for figure in figures))
        return "", {}


@dataclass(frozen=True, slots=True)
class _Found:
    """What a line is made of, without what nobody may keep."""

    shape: str
    groups: Mapping[str, str | None]
    redacted: str
    payload: bool


def _figure(message: str, figure: Figure, pattern: re.Pattern[str]) -> Sequence[tuple[str, float]]:
    match = pattern.search(message)
    if match is None:
        return ()
    try:
        return ((figure.key, float(match[1].replace(_NUMBER_SEPARATOR, "")) * figure.factor),)
    except ValueError:  # digits that make no number, such as 1.2.3
        return ()


def _as_text(groups: Mapping[str, str]) -> str:
    """Write a record of JSON as its line of text would be."""
    process = f"({groups.get('process') or ''} pid={groups.get('pid') or ''}) "
    level, time, source = (groups.get(name) or "" for name in ("level", "time", "source"))
    return f"{process}{level} {time} [{source}] {groups['message']}"


def _with(line: ParsedLine, **changes: object) -> ParsedLine:
    values = {name: getattr(line, name) for name in ParsedLine.__slots__}
    return ParsedLine(**(values | changes))
