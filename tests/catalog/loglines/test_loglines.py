"""Each line of the catalogue is found where it should be and nowhere else, by Python's re and by RE2 alike."""

import re
from collections.abc import Iterator

import pytest
import re2

from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.parse import LineReader
from vllmwatch.spec.logline import Event, LogSource, Milestone, Prefix, Redaction

_READ = "(APIServer pid=1) INFO 11-30 19:16:03 [a.py:1] "


def _patterns() -> Iterator[tuple[str, str]]:
    for prefix in LOG_CATALOG.prefixes:
        yield prefix.name, prefix.pattern
    for milestone in LOG_CATALOG.milestones:
        yield milestone.name, milestone.pattern
        yield from ((f"{milestone.name}.{figure.key}", figure.pattern) for figure in milestone.figures)
    for event in LOG_CATALOG.events:
        yield event.name, event.pattern
    for redaction in LOG_CATALOG.redactions:
        yield redaction.name, redaction.pattern
    for number, cleaning in enumerate(LOG_CATALOG.cleanings):
        yield f"cleaning {number}", cleaning
    yield from (("request_id", LOG_CATALOG.request_id), ("probe", LOG_CATALOG.probe), ("access", LOG_CATALOG.access))


def _lines() -> Iterator[str]:
    for prefix in LOG_CATALOG.prefixes:
        yield from (line for line, _ in prefix.matches)
        yield from prefix.misses
    for milestone in LOG_CATALOG.milestones:
        yield from (line for line, _ in milestone.matches)
    for event in LOG_CATALOG.events:
        yield from (*event.matches, *event.misses)
    for redaction in LOG_CATALOG.redactions:
        yield from (line for line, _ in redaction.matches)
        yield from redaction.misses


@pytest.mark.parametrize(("name", "pattern"), tuple(_patterns()))
def test_re2_finds_what_re_finds(name: str, pattern: str) -> None:
    ours, theirs = re.compile(pattern), re2.compile(pattern)
    for line in _lines():
        mine, other = ours.search(line), theirs.search(line)
        assert (mine and mine.span()) == (other and other.span()), f"{name}: {line}"
        if mine is not None:
            assert mine.groups() == other.groups(), f"{name}: {line}"


@pytest.mark.parametrize("prefix", LOG_CATALOG.prefixes, ids=lambda prefix: prefix.name)
def test_prefix(prefix: Prefix) -> None:
    for line, groups in prefix.matches:
        match = re.match(prefix.pattern, line)
        assert match is not None, line
        found = {name: value for name, value in match.groupdict(default="").items() if value or name == "message"}
        assert found == dict(groups)
        first = next(each.name for each in LOG_CATALOG.prefixes if re.match(each.pattern, line))
        assert first == prefix.name
    for line in prefix.misses:
        assert re.match(prefix.pattern, line) is None, line


@pytest.mark.parametrize("milestone", LOG_CATALOG.milestones, ids=lambda milestone: milestone.name)
def test_milestone(milestone: Milestone) -> None:
    for line, figures in milestone.matches:
        read = LineReader(LOG_CATALOG).read(_READ + line)
        assert read.name == milestone.name
        assert read.figures == pytest.approx(dict(figures))
    for line in milestone.misses:
        assert LineReader(LOG_CATALOG).read(_READ + line).name != milestone.name


@pytest.mark.parametrize("event", LOG_CATALOG.events, ids=lambda event: event.name)
def test_event(event: Event) -> None:
    for line in event.matches:
        assert LineReader(LOG_CATALOG).read(_READ + line).event == event.name
        assert LineReader(LOG_CATALOG).read(line).event == event.name, "without a prefix"
    for line in event.misses:
        assert LineReader(LOG_CATALOG).read(_READ + line).event != event.name


@pytest.mark.parametrize("redaction", LOG_CATALOG.redactions, ids=lambda redaction: redaction.name)
def test_redaction(redaction: Redaction) -> None:
    for line, left in redaction.matches:
        assert LineReader(LOG_CATALOG).read(_READ + line).redacted == _READ + left
        assert LineReader(LOG_CATALOG).read(_READ + left).redacted == _READ + left, "what is replaced stays"
    for line in redaction.misses:
        assert LineReader(LOG_CATALOG).read(_READ + line).redacted == _READ + line


def test_kernel_lines_are_the_kernels() -> None:
    assert {event.name for event in LOG_CATALOG.events if event.source is LogSource.KERNEL} == {
        "gpu_fallen_off_bus",
        "xid",
        "process_killed_for_memory",
        "driver_versions_differ",
    }


@pytest.mark.parametrize(
    ("line", "dropped"),
    [
        ('192.0.2.9:40000 - "GET /metrics HTTP/1.1" 200 OK', True),
        ('192.0.2.9:40000 - "GET /metrics/ HTTP/1.1" 200', True),
        ('192.0.2.9:40000 - "GET /metrics?x=1 HTTP/1.1" 200 OK', True),
        ('[2001:db8::1]:40000 - "GET /health HTTP/1.1" 204 No Content', True),
        (' - "GET /ping HTTP/1.1" 200 OK', True),
        ('192.0.2.9:40000 - "GET /health HTTP/1.1" 503 Service Unavailable', False),
        ('192.0.2.9:40000 - "GET /metricsfoo HTTP/1.1" 200 OK', False),
        ('192.0.2.9:40000 - "POST /health HTTP/1.1" 200 OK', False),
        ('192.0.2.9:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK', False),
    ],
)
def test_probes_that_went_well_are_noise(line: str, dropped: bool) -> None:
    read = LineReader(LOG_CATALOG).read("INFO:     " + line)
    assert (read.name, read.probe) == ("access", dropped)
