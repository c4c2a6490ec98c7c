"""`vllmwatch logs parse`: the log of a vLLM server or of the kernel, as JSON lines that a program can read."""

import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.errors import VllmwatchError
from vllmwatch.sources.logs.join import Joiner, Record
from vllmwatch.sources.logs.parse import LineReader
from vllmwatch.sources.logs.pieces import whole_lines
from vllmwatch.sources.logs.ranks import ranks
from vllmwatch.sources.logs.times import with_year

_COMMAND = "Write `vllmwatch logs parse FILE`, or - for what comes through a pipe."
_EVENTS = [event.name for event in LOG_CATALOG.events]

What = Annotated[str, typer.Argument(metavar="parse", help="'parse' reads a log.", show_default=False)]
File = Annotated[str, typer.Argument(metavar="FILE", help="The log; - is what comes in.", show_default=False)]
Events = Annotated[bool, typer.Option("--events", help="Print only what tells that something went wrong.")]
Payloads = Annotated[
    bool, typer.Option("--keep-payloads", help="Leave in what users and models wrote; keys are taken out all the same.")
]


def logs(what: What, file: File = "-", *, events: Events = False, keep_payloads: Payloads = False) -> None:
    """Read the log of a vLLM server or of the kernel, and print it as one JSON object a record.

    Tracebacks are joined, lines that a container engine cut are put together, and what users wrote, what models
    answered and what opens doors is taken out. A line that is not known stands in `message` as it is, with `raw`.
    """
    if what != "parse":
        raise VllmwatchError(f"{what!r} is nothing that can be done with logs", hint=_COMMAND)
    reader, joiner = LineReader(LOG_CATALOG, keep_payloads=keep_payloads), Joiner()
    stream, written = _open(file)
    with stream:
        for text in whole_lines(line.removesuffix("\n") for line in stream):
            for record in joiner.add(reader.read(text)):
                _print(record, written, events=events)
    for record in joiner.end():
        _print(record, written, events=events)


def _open(file: str) -> tuple[TextIO, datetime]:
    """Open a log; return it and when it was written last, by the clock of this host."""
    if file == "-":
        sys.stdin.reconfigure(errors="replace", newline="\n")  # type: ignore[union-attr] # it is a file here
        return sys.stdin, datetime.now()  # noqa: DTZ005 - lines of vLLM have no zone either
    path = Path(file)
    try:
        stream = path.open(encoding="utf-8", errors="replace", newline="\n")
        return stream, datetime.fromtimestamp(path.stat().st_mtime)  # noqa: DTZ006 - as above
    except OSError as error:
        raise VllmwatchError(f"{file}: {(error.strerror or str(error)).lower()}", hint=_COMMAND) from None


def _print(record: Record, written: datetime, *, events: bool) -> None:
    event = record.event(_EVENTS)
    if event or not events:
        typer.echo(json.dumps(as_mapping(record, event, written), ensure_ascii=False))


def as_mapping(record: Record, event: str, written: datetime) -> dict[str, Any]:
    """Return what is known of a record; what is not known has no key."""
    first = record.first
    time = with_year(first.time_text, written)
    found: dict[str, Any] = {
        "time": time.isoformat() if time else first.time_text,
        "level": first.level,
        "process": first.process,
        "ranks": ranks(first.process) or ({"rank": int(first.rank)} if first.rank else {}),
        "pid": first.pid,
        "source": first.source,
        "name": first.name,
        "figures": dict(first.figures),
        "event": event,
        "request_id": first.request_id,
        "exception": record.exception,
        "message": record.message,
        "raw": not first.head,
    }
    return {key: value for key, value in found.items() if value or (value == 0 and value is not False)}
