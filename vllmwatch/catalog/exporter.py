"""Metrics about the targets and about the exporter itself."""

from vllmwatch.catalog.labels import NODE, SERVER
from vllmwatch.spec.metric import Label, Metric, counter, gauge
from vllmwatch.spec.reason import DROP_MEANINGS, REASON_MEANINGS
from vllmwatch.spec.unit import BOOLEAN, BYTES, COUNT, INFO, SECONDS, TIMESTAMP

REASON = Label("reason", "Why the target's page could not be had, or not wholly.", REASON_MEANINGS)
DROP_REASON = Label("reason", "Why samples of a page that was read did not reach ours.", DROP_MEANINGS)
URL = Label("url", "The address of the metrics page, without credentials and query.")
ORIGIN = Label(
    "origin",
    "How the target came to be known.",
    {
        "static": "the configuration or the command line names it",
        "file_sd": "a file of targets names it",
        "process": "its process was found on this host",
    },
)
ROLE = Label(
    "role",
    "What answers at the target; empty until it has answered once.",
    {"server": "a vLLM server", "router": "a router in front of vLLM servers"},
)
VERSION = Label("version", "The version that the program says it has; empty where it does not say.")
MODEL_NAME = Label("model_name", "The first name under which the server serves its model.")
PYTHON_VERSION = Label("python_version", "The version of the Python that runs the exporter.")

TARGET_UP = gauge(
    "target_up",
    "Whether a page with vLLM families was read from the target in this scrape.",
    BOOLEAN,
    SERVER,
    NODE,
)
TARGET_ERROR = gauge(
    "target_error",
    "The present reason that the target is not up; absent while it is.",
    BOOLEAN,
    SERVER,
    NODE,
    REASON,
)
TARGET_SCRAPE_DURATION = gauge(
    "target_scrape_duration_seconds",
    "Time that the last fetch of the target's page took.",
    SECONDS,
    SERVER,
    NODE,
)
TARGET_SAMPLES = gauge(
    "target_samples",
    "Samples of the target on this page.",
    COUNT,
    SERVER,
    NODE,
)
TARGET_DROPPED_SAMPLES = gauge(
    "target_dropped_samples",
    "Samples of the target's page that are not on this page since something is wrong with them.",
    COUNT,
    SERVER,
    NODE,
    DROP_REASON,
)
TARGET_LAST_SUCCESS = gauge(
    "target_last_success_timestamp_seconds",
    "When the target was last up; absent where it never was.",
    TIMESTAMP,
    SERVER,
    NODE,
)
TARGET_INFO = gauge(
    "target_info",
    "What is known of the target; stays while the target is down.",
    INFO,
    SERVER,
    NODE,
    URL,
    ORIGIN,
    ROLE,
    VERSION,
    MODEL_NAME,
)
DISCOVERY_PROBLEMS = gauge(
    "discovery_problems",
    "Faults that discovery met in its last round, such as an unreadable file of targets.",
    COUNT,
    NODE,
)
COLLECT_DURATION = gauge(
    "exporter_collect_duration_seconds",
    "Time that it took to gather this page.",
    SECONDS,
    NODE,
)
CONFIG_RELOAD_SUCCESSFUL = gauge(
    "config_last_reload_successful",
    "Whether the configuration was last read without a fault; a bad one leaves the old in force.",
    BOOLEAN,
    NODE,
)
CONFIG_RELOAD_SUCCESS_TIMESTAMP = gauge(
    "config_last_reload_success_timestamp_seconds",
    "When the configuration in force was read.",
    TIMESTAMP,
    NODE,
)
PAGE_RECEIVERS = gauge(
    "page_receivers",
    "Receivers that pages go to by the settings of this exporter; 0 where it is told of none.",
    COUNT,
    NODE,
)
EXPORTER_CPU = counter(
    "exporter_cpu_seconds_total",
    "Processor time, user and system, that the exporter has used.",
    NODE,
    unit=SECONDS,
)
EXPORTER_MEMORY = gauge(
    "exporter_resident_memory_bytes",
    "Resident memory of the exporter.",
    BYTES,
    NODE,
)
EXPORTER_START = gauge(
    "exporter_start_timestamp_seconds",
    "When the exporter started.",
    TIMESTAMP,
    NODE,
)
BUILD_INFO = gauge("build_info", "The version of vllmwatch.", INFO, NODE, VERSION, PYTHON_VERSION)

METRICS: tuple[Metric, ...] = (
    TARGET_UP,
    TARGET_ERROR,
    TARGET_SCRAPE_DURATION,
    TARGET_SAMPLES,
    TARGET_DROPPED_SAMPLES,
    TARGET_LAST_SUCCESS,
    TARGET_INFO,
    DISCOVERY_PROBLEMS,
    COLLECT_DURATION,
    CONFIG_RELOAD_SUCCESSFUL,
    CONFIG_RELOAD_SUCCESS_TIMESTAMP,
    PAGE_RECEIVERS,
    EXPORTER_CPU,
    EXPORTER_MEMORY,
    EXPORTER_START,
    BUILD_INFO,
)
