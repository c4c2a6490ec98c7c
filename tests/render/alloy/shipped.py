"""What reaches Loki of lines, as the generated text says: the fixtures of tests about the stages."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache

from tests.render.alloy.interpreter import Entry, World, process
from tests.render.alloy.language import Statement, parse
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.render.alloy import render_alloy
from vllmwatch.render.log_settings import LogSettings

START = datetime(2026, 12, 1, 12, 30, tzinfo=UTC)
EVERYTHING = LogSettings(
    files=(("gpu1:8000", "/var/log/vllm/*.log"), ("gpu1:8001", "/srv/b.log")),
    units=(("gpu1:8002", "vllm"), ("gpu1:8003", "vllm@3.service")),
)
KEEPING = LogSettings(keep_payloads=True)


@cache
def statements(settings: LogSettings = EVERYTHING) -> tuple[Statement, ...]:
    """Return the generated file, read."""
    return parse(render_alloy(LOG_CATALOG, settings))


def shipped(
    lines: Sequence[str],
    *,
    settings: LogSettings = EVERYTHING,
    world: World | None = None,
    pauses: Sequence[int] = (),
    label: str = "servers",
    **labels: str,
) -> list[Entry]:
    """Return what reaches Loki of the lines of one stream; `pauses` are the seconds before each line."""
    time = START
    entries = []
    for index, line in enumerate(lines):
        time += timedelta(seconds=pauses[index] if index < len(pauses) else 0)
        given = {"job": "given", "node": "gpu1", **({"server": "gpu1:8000"} if label == "servers" else {}), **labels}
        entries.append(Entry(line, given, time))
    return process(statements(settings), label, entries, world or World())


def metadata(entry: Entry) -> dict[str, str]:
    """Return what stands beside a line; nothing may stand there twice."""
    found = dict(entry.metadata)
    assert len(found) == len(entry.metadata), entry.metadata
    return found
