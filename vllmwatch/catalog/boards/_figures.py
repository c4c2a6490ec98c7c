"""What boards show: every series by its name, with its help, its unit and its labels."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from vllmwatch.catalog import exporter, gpu, joined
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.spec.recording import EVENTS_PER_SECOND
from vllmwatch.spec.unit import BOOLEAN, COUNT, SECONDS, TIMESTAMP, Unit


@dataclass(frozen=True, slots=True)
class Figure:
    """A series that a board may show."""

    name: str
    help: str
    unit: Unit
    labels: tuple[str, ...]


_ALERT = ("alertname", "severity", "model_name", "server", "node", "engine", "uuid")
_OF_OTHERS: tuple[Figure, ...] = (
    Figure("ALERTS", "Alerts that fire, by Prometheus, before Alertmanager mutes any.", COUNT, _ALERT),
    Figure("ALERTS_FOR_STATE", "Since when what an alert watches for has been so.", TIMESTAMP, _ALERT),
    Figure("up", "Whether Prometheus could scrape a target.", BOOLEAN, ("job", "instance")),
    Figure("scrape_duration_seconds", "How long a scrape of Prometheus took.", SECONDS, ("job", "instance")),
    Figure("scrape_samples_scraped", "Samples that a scrape of Prometheus found.", COUNT, ("job", "instance")),
    Figure(
        "prometheus_rule_group_last_duration_seconds",
        "How long the last evaluation of a group of rules took.",
        SECONDS,
        ("rule_group",),
    ),
    Figure(
        "prometheus_rule_evaluation_failures_total",
        "Evaluations of rules that failed.",
        EVENTS_PER_SECOND,
        ("rule_group",),
    ),
    Figure("prometheus_tsdb_head_series", "Series that Prometheus keeps in memory.", COUNT, ()),
    Figure(
        "prometheus_notifications_alertmanagers_discovered",
        "Alertmanagers that Prometheus sends alerts to.",
        COUNT,
        (),
    ),
    Figure(
        "prometheus_notifications_dropped_total",
        "Alerts that Prometheus could not hand to Alertmanager.",
        EVENTS_PER_SECOND,
        (),
    ),
    Figure("alertmanager_alerts", "Alerts that Alertmanager has, by state.", COUNT, ("state",)),
    Figure(
        "alertmanager_notification_requests_total",
        "Tries of Alertmanager to deliver a message.",
        EVENTS_PER_SECOND,
        ("integration",),
    ),
    Figure(
        "alertmanager_notification_requests_failed_total",
        "Tries of Alertmanager to deliver a message that failed.",
        EVENTS_PER_SECOND,
        ("integration",),
    ),
    Figure("loki_distributor_lines_received_total", "Lines of logs that Loki received.", EVENTS_PER_SECOND, ()),
    Figure(
        "loki_discarded_samples_total", "Lines of logs that Loki refused, by reason.", EVENTS_PER_SECOND, ("reason",)
    ),
)


def _figures() -> Iterator[Figure]:
    for group in RECORDINGS:
        for each in group.recordings:
            yield Figure(each.name, each.help, each.unit, each.labels)
    for module in (gpu, joined, exporter):
        for metric in module.METRICS:
            yield Figure(metric.name, metric.help, metric.unit, tuple(label.name for label in metric.labels))
    yield from _OF_OTHERS


FIGURES: Mapping[str, Figure] = {each.name: each for each in _figures()}
