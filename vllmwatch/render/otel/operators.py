"""The operators that make of lines of vLLM's what Elasticsearch is given, in the order and by the names of Alloy's."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from vllmwatch.render.alloy import patterns
from vllmwatch.render.log_settings import LogSettings
from vllmwatch.render.otel.inverted import inverted
from vllmwatch.spec.logline import REDACTED, LogCatalog

Operator = dict[str, Any]

_BODY = "body"
_TOLD = "attributes.told"
_JSON = "attributes.json"
# Times of the text, and the layouts by which they are read; without a year, the Collector takes the one that is near.
_LAYOUTS = {
    "^[0-9]{2}-": "01-02 15:04:05",
    "^[0-9-]{10} [0-9:.,]+$": "2006-01-02 15:04:05",
    "^[0-9-]{10}T[0-9:.,]+$": "2006-01-02T15:04:05",
    "^[0-9-]{10}T[0-9:.,]+(?:Z|[+-][0-9]{2}:[0-9]{2})$": "2006-01-02T15:04:05Z07:00",
}
_SEVERITIES = {"debug": "debug", "info": "info", "warning": "warn", "error": "error", "critical": "fatal"}
_KEPT = ("process", "rank", "pid", "level")
_MOST_LINES = 1000


def operators(catalog: LogCatalog, settings: LogSettings) -> Iterator[Operator]:
    """Yield the operators, in their order."""
    for cleaning in catalog.cleanings:
        yield _replaced(patterns.printable(cleaning), "", _BODY)
    yield from _json(catalog)
    yield {"type": "filter", "expr": _matches(_BODY, patterns.probe(catalog))}
    yield {
        "type": "recombine",
        "combine_field": _BODY,
        "is_first_entry": _matches(_BODY, f"^{patterns.first_line(catalog)}"),
        "overwrite_with": "oldest",
        "max_batch_size": _MOST_LINES,
        "max_unmatched_batch_size": 1,
        "force_flush_period": "3s",
    }
    for redaction in catalog.redactions:
        yield _replaced(redaction.pattern, REDACTED, _BODY)
    yield from _prefixes(catalog)
    yield from _times(settings)
    yield from _levels(catalog)
    yield from _told(catalog)
    yield from _events(catalog)
    yield from _removed(("head", "lead", "message", "source", "time", "told"))
    for name in _KEPT:
        yield {"type": "remove", "field": f"attributes.{name}", "if": f'attributes.{name} == ""'}


def _replaced(pattern: str, text: str, field: str) -> Operator:
    replacement = inverted(pattern, text)
    return {"type": "regex_replace", "field": field, "regex": replacement.pattern, "replace_with": replacement.text}


def _json(catalog: LogCatalog) -> Iterator[Operator]:
    keys = catalog.json_keys
    value = {group: f'string({_JSON}.{key} ?? "")' for group, key in keys.items()}
    text = (
        f'"(" + {value["process"]} + " pid=" + {value["pid"]} + ") " + {value["level"]} + " " + {value["time"]}'
        f' + " [" + {value["source"]} + "] " + {value["message"]}'
    )
    is_record = f"{_JSON}?.{keys['level']} != nil and {_JSON}?.{keys['message']} != nil"
    yield {
        "type": "json_parser",
        "parse_to": _JSON,
        "if": f"{_matches(_BODY, '^{')} and {_BODY} contains {json.dumps(keys['level'])}",
        "on_error": "send_quiet",
    }
    yield {
        "type": "add",
        "field": _BODY,
        "value": f'EXPR({text} + "\\n" + {value["traceback"]})',
        "if": f"{is_record} and {_JSON}?.{keys['traceback']} != nil",
    }
    yield {
        "type": "add",
        "field": _BODY,
        "value": f"EXPR({text})",
        "if": f"{is_record} and {_JSON}?.{keys['traceback']} == nil",
    }
    yield {"type": "remove", "field": _JSON, "if": f"{_JSON} != nil"}


def _prefixes(catalog: LogCatalog) -> Iterator[Operator]:
    """Yield a parser for each prefix; the last that matches holds."""
    yield _parser(patterns.whole(""))
    for head in reversed(patterns.heads(catalog)):
        yield _parser(patterns.whole(head))


def _parser(pattern: str, field: str = _BODY) -> Operator:
    return {"type": "regex_parser", "regex": pattern, "parse_from": field, "on_error": "send_quiet"}


def _times(settings: LogSettings) -> Iterator[Operator]:
    for pattern, layout in _LAYOUTS.items():
        yield {
            "type": "time_parser",
            "parse_from": "attributes.time",
            "layout_type": "gotime",
            "layout": layout,
            "location": settings.time_zone,
            "if": _matches("attributes.time", pattern),
            "on_error": "send_quiet",
        }


def _levels(catalog: LogCatalog) -> Iterator[Operator]:
    words: dict[str, list[str]] = {}
    for word, level in catalog.levels.items():
        words.setdefault(level, []).append(word)
    yield {
        "type": "severity_parser",
        "parse_from": "attributes.level",
        "preset": "none",
        "mapping": {_SEVERITIES[level]: found for level, found in words.items()},
        "on_error": "send_quiet",
        "if": 'attributes.level != ""',
    }
    for level, found in words.items():
        yield {
            "type": "add",
            "field": "attributes.level",
            "value": level,
            "if": f"attributes.level in {json.dumps(found)}",
        }


def _told(catalog: LogCatalog) -> Iterator[Operator]:
    yield {"type": "copy", "from": "attributes.message", "to": _TOLD}
    yield _replaced(f"(?m)({catalog.access}.*$)", "", _TOLD)
    yield _parser(patterns.named(catalog.request_id, "request_id"), _TOLD)
    yield _replaced(patterns.lines_with(each.pattern for each in catalog.milestones), "", _TOLD)


def _events(catalog: LogCatalog) -> Iterator[Operator]:
    """Yield what sets the event, causes last, since the last that matches holds."""
    for event in reversed(catalog.events):
        yield {
            "type": "add",
            "field": "attributes.event",
            "value": event.name,
            "if": _matches(_TOLD, f"(?m){event.pattern}"),
        }


def _removed(names: Iterable[str]) -> Iterator[Operator]:
    return ({"type": "remove", "field": f"attributes.{name}"} for name in names)


def _matches(field: str, pattern: str) -> str:
    return f"{field} matches {json.dumps(pattern, ensure_ascii=False)}"
