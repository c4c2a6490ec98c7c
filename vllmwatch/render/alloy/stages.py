"""The stages that make of lines of vLLM's what Loki is given: joined, without secrets, with level, event and more."""

import json
from collections.abc import Iterable, Iterator, Sequence

from vllmwatch.render.alloy import patterns
from vllmwatch.render.alloy.events import event_stages
from vllmwatch.render.alloy.syntax import Block, Comment, Expression, block, quote, selector_text
from vllmwatch.render.alloy.times import time_stages
from vllmwatch.render.log_settings import PAYLOAD_LABEL, PAYLOAD_VALUE, LogSettings
from vllmwatch.spec.logline import PREFIX_GROUPS, REDACTED, LogCatalog, Redaction

Stage = Block | Comment

LEAD_VARIABLE = "LOG_LEAD_PATTERN"
"""The variable with the pattern of what VLLM_LOGGING_PREFIX puts before each line."""
MOST_LINES = 1000
MOST_WAIT = "3s"
# What is known of a line and is no label, since it has too many values.
_METADATA = ("container", "event", "filename", "pid", "process", "rank", "request_id", "stream")
# Of these, what sources give as labels, so that each container, stream and file is joined by itself.
_GIVEN = ("container", "filename", "stream")
_SELECTOR = '{job="vllm"}'
_REPLACEMENT = f"{{{{ if .Value }}}}{REDACTED}{{{{ end }}}}"


def server_stages(catalog: LogCatalog, settings: LogSettings) -> Iterator[Stage]:
    """Yield the stages for the logs of servers, in their order."""
    yield block("stage.static_labels", values={"job": "vllm"})
    yield Comment("What is no text; then records of JSON as the text that they would be.")
    yield from _cleanings(catalog)
    yield from _json(catalog)
    yield Comment("Probes and scrapes that were answered well.")
    yield block("stage.drop", expression=patterns.probe(catalog), drop_counter_reason="probe")
    yield Comment("A line that begins as no logger's does goes on with the one before it.")
    yield block("stage.regex", expression=_led("(?P<payload>^(?:", f"|){patterns.payload_line(catalog)})"))
    yield block(
        "stage.multiline",
        firstline=_led("^(?:", f"|){patterns.first_line(catalog)}"),
        max_lines=MOST_LINES,
        max_wait_time=MOST_WAIT,
    )
    yield Comment("What nobody may keep is taken out before anything else is made of a record.")
    yield from redaction_stages(_kept_out(catalog, settings))
    yield Comment("Who wrote it, how grave it is, and when: the last that matches holds.")
    yield from _prefixes(catalog, settings)
    yield from _levels(catalog)
    yield from time_stages(settings)
    yield from _payload_stream(catalog, settings)
    yield Comment("What it tells: access lines and those of normal life tell of no event.")
    yield from _told(catalog, settings)
    yield from event_stages(catalog.events, _SELECTOR)
    yield from closing_stages()


def closing_stages() -> Iterator[Stage]:
    """Yield the stages that count events and put everything in its place, as a label or beside the line."""
    yield Comment("Events are counted on Alloy's own page, with the labels that the line has here.")
    yield block("stage.label_drop", values=list(_GIVEN))
    yield block("stage.labels", values={"event": ""})
    yield block(
        "stage.metrics",
        block(
            "metric.counter",
            name="log_events_total",
            prefix="vllmwatch_shipped_",
            description="Lines that told of an event, as they were shipped.",
            source="event",
            action="inc",
            max_idle_duration="24h",
        ),
    )
    yield block("stage.label_drop", values=["event"])
    yield Comment("Few values make a label; the rest stands beside the line.")
    yield block("stage.labels", values={"level": ""})
    yield block("stage.structured_metadata", values=dict.fromkeys(_METADATA, ""))


def redaction_stages(redactions: Iterable[Redaction], source: str = "") -> Iterator[Stage]:
    """Yield a stage for each redaction, of the line or of what was extracted as `source`."""
    for redaction in redactions:
        where = {"source": source} if source else {}
        yield block("stage.replace", expression=redaction.pattern, replace=_REPLACEMENT, **where)


def _kept_out(catalog: LogCatalog, settings: LogSettings) -> Sequence[Redaction]:
    return [each for each in catalog.redactions if not (settings.keep_payloads and each.payload)]


def _cleanings(catalog: LogCatalog) -> Iterator[Stage]:
    for pattern in catalog.cleanings:
        yield block("stage.replace", expression=patterns.printable(pattern), replace="")


def _json(catalog: LogCatalog) -> Iterator[Stage]:
    keys = catalog.json_keys
    text = (
        '{{ if and .json_level .json_message }}({{ or .json_process "" }} pid={{ or .json_pid "" }}) {{ .json_level }} '
        '{{ or .json_time "" }} [{{ or .json_source "" }}] {{ .json_message }}'
        '{{ if .json_traceback }}{{ "\\n" }}{{ .json_traceback }}{{ end }}{{ end }}'
    )
    yield block(
        "stage.match",
        block("stage.json", expressions={f"json_{group}": key for group, key in keys.items()}),
        block("stage.template", source="text", template=text),
        block("stage.output", source="text"),
        selector=f'{_SELECTOR} |~ "^\\\\{{" |= {selector_text(keys["level"])}',
    )


def _prefixes(catalog: LogCatalog, settings: LogSettings) -> Iterator[Stage]:
    yield block("stage.regex", expression=patterns.whole(""))
    for head in reversed(patterns.heads(catalog)):
        yield block("stage.regex", expression=patterns.whole(head))
    if settings.keep_payloads:
        return
    yield Comment("What goes on with a text of a user or a model, and came too late to be joined, is a part of it.")
    for source, kept in (("message", ".Value"), ("line", ".Entry")):
        template = (
            f"{{{{ if and .payload (not .{patterns.HEAD}) }}}}{REDACTED}{{{{ else }}}}{{{{ {kept} }}}}{{{{ end }}}}"
        )
        yield block("stage.template", source=source, template=template)
    yield block("stage.output", source="line")


def _levels(catalog: LogCatalog) -> Iterator[Stage]:
    written: dict[str, list[str]] = {}
    for word, level in catalog.levels.items():
        written.setdefault(level, []).append(word)
    branches = [f"if eq .Value {' '.join(map(json.dumps, words))} }}}}{level}" for level, words in written.items()]
    yield block("stage.template", source="level", template="{{ " + "{{ else ".join(branches) + "{{ end }}")
    for group in PREFIX_GROUPS:
        if group in _METADATA:
            yield block("stage.template", source=group, template="{{ .Value }}")


def _payload_stream(catalog: LogCatalog, settings: LogSettings) -> Iterator[Stage]:
    if not settings.keep_payloads:
        return
    yield Comment("What users wrote and models answered has streams of its own, which are kept for less long.")
    goes_on = f"{{{{ if and .payload (not .{patterns.HEAD}) }}}}{PAYLOAD_VALUE}{{{{ end }}}}"
    yield block("stage.template", source=PAYLOAD_LABEL, template=goes_on)
    yield block("stage.labels", values={PAYLOAD_LABEL: ""})
    yield block(
        "stage.match",
        block("stage.static_labels", values={PAYLOAD_LABEL: PAYLOAD_VALUE}),
        selector=f"{_SELECTOR} |~ {selector_text(patterns.payloads(catalog.redactions))}",
    )


def _told(catalog: LogCatalog, settings: LogSettings) -> Iterator[Stage]:
    yield block("stage.template", source="told", template='{{ or .message "" }}')
    if settings.keep_payloads:
        yield from redaction_stages([each for each in catalog.redactions if each.payload], "told")
    yield block("stage.replace", source="told", expression=f"(?m)({catalog.access}.*$)", replace="")
    yield _named_stage(catalog.request_id, "request_id", source="told", has_group=True)
    milestones = patterns.lines_with(each.pattern for each in catalog.milestones)
    yield block("stage.replace", source="told", expression=milestones, replace="")


def _named_stage(pattern: str, name: str, *, source: str = "", has_group: bool = False) -> Block:
    expression = patterns.named(pattern, name) if has_group else f"(?P<{name}>{pattern})"
    return block("stage.regex", expression=expression, **({"source": source} if source else {}))


def _led(before: str, after: str) -> Expression:
    """Return a pattern with what stands before each line, which the variable tells, between two parts."""
    return Expression(f'{quote(before)} + sys.env("{LEAD_VARIABLE}") + {quote(after)}')
