"""What logs told of, on the page."""

from vllmwatch.catalog import logs as catalog
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.log_tally import LogReading


def add_logs(families: Families, reading: LogReading, node: str) -> None:
    """Add the counts of events and lines, and whether each log can be read."""
    for (server, event), counted in reading.events.items():
        families[catalog.LOG_EVENTS].add(counted.count, server, node, event)
        if counted.count:
            families[catalog.LOG_EVENT_LAST].add(counted.last_seconds, server, node, event)
    for (server, level), lines in reading.lines.items():
        families[catalog.LOG_LINES].add(lines, server, node, level)
    for place in reading.places:
        families[catalog.LOG_READABLE].add(not place.problem, place.server, node, place.name)
