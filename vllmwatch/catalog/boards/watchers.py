"""The board of the watchers: exporter, targets, Prometheus, its rules, Alertmanager and Loki."""

from vllmwatch.catalog.boards._words import NODE, SERVER_OF_TARGETS, Scope, column, lines, number, panel, row
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import NONE_FOUND, Color, Dashboard, Limits, Look, Query, Value
from vllmwatch.spec.recording import EVENTS_PER_SECOND
from vllmwatch.spec.unit import NUMBER

_SCOPE = Scope((NODE, SERVER_OF_TARGETS))
_UP = {0.0: Value("no", Color.BAD), 1.0: Value("yes", Color.WELL)}
_NO_PROMETHEUS = "Prometheus does not scrape itself"
_NO_ALERTMANAGER = "Prometheus does not scrape Alertmanager"
_NO_LOKI = "Prometheus does not scrape Loki"

_EXPORTER = row(
    "Do the exporters work?",
    panel(
        "Does Prometheus reach what it scrapes?",
        Look.STATES,
        _SCOPE.lowest("up"),
        of=("up",),
        width=12,
        unit=NUMBER,
        values=_UP,
        alerts=("ExporterDown",),
    ),
    panel(
        "Which exporters are there?",
        Look.TABLE,
        column(
            Query(
                f"topk($most, group by (node, version, python_version) ({_SCOPE.select('vllmwatch_build_info')}))",
                ("node", "version", "python_version"),
            ),
            "There",
            NUMBER,
        ),
        of=("vllmwatch_build_info",),
        width=12,
        unit=NUMBER,
        hidden=("There",),
    ),
    lines(
        "How long does a collection take?",
        _SCOPE.highest("vllmwatch_exporter_collect_duration_seconds"),
        of=("vllmwatch_exporter_collect_duration_seconds",),
    ),
    lines(
        "What do exporters take of the processors?",
        _SCOPE.rate("vllmwatch_exporter_cpu_seconds_total", by=("node",)),
        of=("vllmwatch_exporter_cpu_seconds_total",),
        also="Seconds of a processor in a second.",
        unit=NUMBER,
    ),
    lines(
        "How much memory do exporters take?",
        _SCOPE.highest("vllmwatch_exporter_resident_memory_bytes"),
        of=("vllmwatch_exporter_resident_memory_bytes",),
    ),
    panel(
        "Is the last configuration in force?",
        Look.STATES,
        _SCOPE.lowest("vllmwatch_config_last_reload_successful"),
        of=("vllmwatch_config_last_reload_successful",),
        unit=NUMBER,
        values=_UP,
        alerts=("ConfigReloadFailed",),
    ),
    panel(
        "Does the driver answer?",
        Look.STATES,
        _SCOPE.lowest("vllmwatch_nvml_up"),
        of=("vllmwatch_nvml_up",),
        unit=NUMBER,
        no_data="No host with GPUs",
        values=_UP,
        alerts=("NvmlDown",),
    ),
    panel(
        "Are XID events heard?",
        Look.STATES,
        _SCOPE.lowest("vllmwatch_xid_source_up"),
        of=("vllmwatch_xid_source_up",),
        unit=NUMBER,
        no_data="No host with GPUs",
        values=_UP,
    ),
)
_TARGETS = row(
    "Are the servers read?",
    lines(
        "How long does each server take to give its page?",
        _SCOPE.highest("vllmwatch_target_scrape_duration_seconds"),
        of=("vllmwatch_target_scrape_duration_seconds",),
        limits=Limits(care_above=5.0),
        alerts=("TargetScrapeSlow",),
    ),
    lines(
        "How many samples does each page have?",
        _SCOPE.highest("vllmwatch_target_samples"),
        of=("vllmwatch_target_samples",),
        alerts=("TargetMetricsMissing",),
    ),
    lines(
        "How many samples are left out, and why?",
        _SCOPE.highest("vllmwatch_target_dropped_samples"),
        of=("vllmwatch_target_dropped_samples",),
        no_data=NONE_FOUND,
        alerts=("TargetMetricsMissing",),
    ),
    lines(
        "What keeps servers from being found?",
        _SCOPE.highest("vllmwatch_discovery_problems"),
        of=("vllmwatch_discovery_problems",),
        no_data=NONE_FOUND,
        alerts=("DiscoveryFailing",),
    ),
    lines(
        "Which GPUs are in use by nobody knows whom?",
        _SCOPE.highest("vllmwatch_gpu_unmapped"),
        of=("vllmwatch_gpu_unmapped",),
        no_data=NONE_FOUND,
        width=16,
        alerts=("GpuUsersUnknown",),
    ),
)
_RULES = row(
    "Are the rules evaluated?",
    lines(
        "Which rules fail?",
        _SCOPE.rate("prometheus_rule_evaluation_failures_total", by=("rule_group",)),
        of=("prometheus_rule_evaluation_failures_total",),
        no_data=_NO_PROMETHEUS,
        limits=Limits(bad_above=0.0),
        alerts=("RulesFailing", "RulesMissing"),
    ),
    lines(
        "How long do the groups of rules take?",
        _SCOPE.highest("prometheus_rule_group_last_duration_seconds"),
        of=("prometheus_rule_group_last_duration_seconds",),
        no_data=_NO_PROMETHEUS,
    ),
    lines(
        "How many series does Prometheus keep?",
        _SCOPE.total("prometheus_tsdb_head_series", operator="max", word="series"),
        of=("prometheus_tsdb_head_series",),
        no_data=_NO_PROMETHEUS,
    ),
)
_PAGES = row(
    "Would a page arrive?",
    number(
        "How many receivers get pages?",
        _SCOPE.total("vllmwatch_page_receivers", operator="max"),
        of=("vllmwatch_page_receivers",),
        limits=Limits(bad_below=1.0),
        height=8,
        alerts=("NobodyIsPaged",),
    ),
    number(
        "How many Alertmanagers are known?",
        _SCOPE.total("prometheus_notifications_alertmanagers_discovered", operator="max"),
        of=("prometheus_notifications_alertmanagers_discovered",),
        no_data=_NO_PROMETHEUS,
        limits=Limits(bad_below=1.0),
        height=8,
    ),
    lines(
        "How many alerts does Alertmanager have?",
        _SCOPE.total("alertmanager_alerts", by=("state",), operator="max"),
        of=("alertmanager_alerts",),
        no_data=_NO_ALERTMANAGER,
    ),
    lines(
        "Are messages delivered?",
        _SCOPE.rate("alertmanager_notification_requests_total", by=("integration",), word="tried"),
        _SCOPE.rate("alertmanager_notification_requests_failed_total", by=("integration",), word="failed"),
        of=("alertmanager_notification_requests_total", "alertmanager_notification_requests_failed_total"),
        no_data=_NO_ALERTMANAGER,
        alerts=("NotificationsFailing",),
    ),
    lines(
        "Does Loki take the logs?",
        _SCOPE.rate("loki_distributor_lines_received_total", by=(), word="received"),
        of=("loki_distributor_lines_received_total",),
        unit=EVENTS_PER_SECOND,
        no_data=_NO_LOKI,
        width=12,
    ),
    lines(
        "Which logs does Loki refuse?",
        _SCOPE.rate("loki_discarded_samples_total", by=("reason",)),
        of=("loki_discarded_samples_total",),
        unit=EVENTS_PER_SECOND,
        no_data=NONE_FOUND,
        width=12,
    ),
)

BOARD = Dashboard(
    Board.WATCHERS,
    "The watchers",
    "Who watches, is all of it read, and would a page arrive?",
    _SCOPE.variables,
    (_EXPORTER, _TARGETS, _RULES, _PAGES),
)
