"""Metrics of the logs that the exporter follows."""

from vllmwatch.catalog.labels import NODE, SERVER
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.spec.logline import LogSource
from vllmwatch.spec.metric import Label, Metric, counter, gauge
from vllmwatch.spec.unit import BOOLEAN, TIMESTAMP

COUNTED_EVENTS: tuple[str, ...] = tuple(event.name for event in LOG_CATALOG.events if event.source is LogSource.VLLM)
"""The events that are counted by server, each from 0 on."""
OTHER_LEVEL = "other"
_LEVELS = {level: f"lines of level {level}" for level in ("debug", "info", "warning", "error", "critical")}

EVENT = Label(
    "event",
    "What the log tells of.",
    {event.name: event.meaning for event in LOG_CATALOG.events if event.source is LogSource.VLLM},
)
LEVEL = Label("level", "How grave a line is.", _LEVELS | {OTHER_LEVEL: "lines that do not say"})
LOG = Label("log", "The file that is followed, or the unit whose journal is.")

LOG_EVENTS = counter(
    "log_events_total",
    "How often the log of a server told of an event, a traceback counted once; kept when the exporter restarts.",
    SERVER,
    NODE,
    EVENT,
)
LOG_EVENT_LAST = gauge(
    "log_event_last_timestamp_seconds",
    "When the log of a server last told of an event; absent where it never did.",
    TIMESTAMP,
    SERVER,
    NODE,
    EVENT,
)
LOG_LINES = counter(
    "log_lines_total",
    "Lines of the log of a server that were read.",
    SERVER,
    NODE,
    LEVEL,
)
LOG_READABLE = gauge(
    "log_readable",
    "Whether a log that is to be followed can be read.",
    BOOLEAN,
    SERVER,
    NODE,
    LOG,
)

METRICS: tuple[Metric, ...] = (LOG_EVENTS, LOG_EVENT_LAST, LOG_LINES, LOG_READABLE)
