"""Every setting of vllmwatch, in the order of the reference page, and the keys of one target."""

from vllmwatch.catalog.latencies import FIRST_TOKEN_EDGES_SETTING, INTER_TOKEN_EDGES_SETTING, REQUEST_EDGES_SETTING
from vllmwatch.catalog.shipping import SHIPPING
from vllmwatch.catalog.thresholds import THRESHOLDS
from vllmwatch.catalog.vllm.prefixes import CHURNING_LABELS
from vllmwatch.spec.setting import Form, Setting
from vllmwatch.spec.threshold import Threshold
from vllmwatch.spec.unit import SECONDS

# Labels that give a series its meaning or its name: dropping one would merge series that differ.
KEPT_LABELS: frozenset[str] = frozenset({"__name__", "engine", "le", "model_name", "node", "quantile", "server"})


_HISTOGRAMS = {
    REQUEST_EDGES_SETTING: "request latency and queue time",
    FIRST_TOKEN_EDGES_SETTING: "time to first token",
    INTER_TOKEN_EDGES_SETTING: "inter-token latency",
}


def _edges(key: str, what: str) -> Setting:
    help_text = (
        f"Bucket edges of {what} in seconds that servers have beside vLLM's own, by --custom-histogram-buckets: "
        "thresholds may be set to them."
    )
    return Setting(key, Form.NUMBERS, (), help_text)


def _threshold(threshold: Threshold) -> Setting:
    form = Form.SECONDS if threshold.unit is SECONDS else Form.NUMBER
    return Setting(threshold.key, form, threshold.default, threshold.help)


ALERTING: tuple[Setting, ...] = (
    *(_threshold(threshold) for threshold in THRESHOLDS),
    *(_edges(key, what) for key, what in _HISTOGRAMS.items()),
    Setting("models", Form.MODELS, (), "Thresholds of single models, by the name that a model is served under."),
    Setting("severities", Form.SEVERITIES, (), "Severities of single alerts, where they are to differ."),
    Setting(
        "direct_jobs",
        Form.TEXT,
        "",
        "A pattern of the jobs by which your Prometheus scrapes vLLM servers itself, which rules then tell apart by "
        "instance; empty where it scrapes the exporter.",
        may_be_empty=True,
    ),
    Setting(
        "gpu_metrics",
        Form.TEXT,
        "vllmwatch",
        "Whose GPU series your Prometheus has: those of the exporter, or those of NVIDIA's dcgm-exporter.",
        choices=("vllmwatch", "dcgm"),
    ),
    Setting("prometheus_url", Form.URL, "http://localhost:9090", "Where Prometheus is asked."),
    Setting("alertmanager_url", Form.URL, "http://localhost:9093", "Where Alertmanager is asked, and told."),
    Setting("team", Form.TEXT, "vllm", "The label team of every alert."),
    Setting(
        "external_labels",
        Form.LIST,
        (),
        "The external labels of your Prometheis, such as cluster, by which fleets that share an Alertmanager are told "
        "apart.",
    ),
    Setting("grafana_url", Form.URL, "http://localhost:3000", "Where Grafana is, for the links to boards in alerts."),
    Setting(
        "grafana_metrics_source",
        Form.TEXT,
        "default",
        "The uid of the Prometheus data source that boards ask; default is Grafana's own default.",
    ),
    Setting(
        "grafana_logs_source",
        Form.TEXT,
        "default",
        "The uid of the Loki data source that boards ask; default is Grafana's own default.",
    ),
    Setting(
        "runbook_base_url",
        Form.URL,
        None,
        "What stands before the name of an alert in the links to runbooks.",
        default_help="where the exporter listens: http://localhost:9836/runbooks",
    ),
    Setting("receivers", Form.RECEIVERS, (), "Who can be told; see the keys of a receiver."),
    Setting("page_to", Form.LIST, (), "The names of the receivers of pages."),
    Setting("ticket_to", Form.LIST, (), "The names of the receivers of tickets."),
    Setting("teams", Form.TEAMS, (), "Receivers of the alerts of single teams, by the label team."),
    Setting(
        "heartbeat_to",
        Form.TEXT,
        "",
        "The name of the receiver that gets a beat a minute, and tells somebody when it stops.",
        may_be_empty=True,
    ),
    Setting(
        "quiet_hours",
        Form.QUIET_HOURS,
        None,
        "When tickets wait for the morning; pages never do.",
        default_help="not set: tickets come at all hours",
    ),
)

SETTINGS: tuple[Setting, ...] = (
    Setting(
        "listen",
        Form.ADDRESS,
        "127.0.0.1:9836",
        "Where the exporter listens: loopback alone, unless another address or ':9836' (all addresses) is given.",
        "--listen",
        read_at_start=True,
    ),
    Setting(
        "targets",
        Form.TARGETS,
        (),
        "The vLLM servers to scrape: addresses such as 'gpu1:8000', or mappings with the keys of a target.",
        "--target",
    ),
    Setting(
        "target_files",
        Form.LIST,
        (),
        "Files of targets in the file_sd form of Prometheus (JSON or YAML; patterns allowed), read again on change.",
        "--target-file",
    ),
    Setting(
        "servers",
        Form.SERVERS,
        (),
        "Which GPUs of this host carry a server, where its processes do not tell; see the keys of a server.",
    ),
    Setting(
        "discover",
        Form.BOOLEAN,
        default=True,
        help="Whether the vLLM servers on this host are found from their processes.",
        option="--discover",
    ),
    Setting(
        "discover_interval_seconds",
        Form.SECONDS,
        15,
        "How often processes and files of targets are looked at.",
        "--discover-interval-seconds",
        minimum=1,
    ),
    Setting(
        "node",
        Form.TEXT,
        None,
        "The name of this host on every series.",
        "--node",
        default_help="this host's name",
    ),
    Setting(
        "scrape_timeout_seconds",
        Form.SECONDS,
        10,
        "The longest that one target may take; a shorter timeout of Prometheus wins.",
        "--scrape-timeout-seconds",
        minimum=0.1,
    ),
    Setting(
        "scrape_timeout_offset_seconds",
        Form.SECONDS,
        0.5,
        "What is taken off the timeout of Prometheus, so that the page is ready before it hangs up.",
    ),
    Setting(
        "body_limit_bytes",
        Form.BYTES,
        32 * 1024 * 1024,
        "The largest metrics page read from one target, after decompression.",
        minimum=1024,
    ),
    Setting(
        "series_limit",
        Form.WHOLE_NUMBER,
        50_000,
        "The most series taken from one target.",
        minimum=1,
    ),
    Setting(
        "redirect_limit",
        Form.WHOLE_NUMBER,
        3,
        "The most redirects followed, on the same host alone.",
    ),
    Setting(
        "keep_created",
        Form.BOOLEAN,
        default=False,
        help="Whether the series that say nothing of serving (those ending in '_created', 'python_…') are kept.",
    ),
    Setting(
        "metric_prefixes",
        Form.LIST,
        (),
        "Prefixes that may stand in place of 'vllm:', besides those of Ray Serve and KServe.",
    ),
    Setting(
        "drop_labels",
        Form.LIST,
        CHURNING_LABELS,
        "Labels taken off vLLM's series, unless they alone tell two series of a page apart.",
    ),
    Setting(
        "target_gone_seconds",
        Form.SECONDS,
        3600,
        "How long a target that is no longer found stays on the page as down.",
    ),
    Setting(
        "sample_interval_seconds",
        Form.SECONDS,
        15,
        "How often the exporter samples by itself for /api/v1/fleet.",
        minimum=1,
    ),
    Setting("nvml", Form.BOOLEAN, default=True, help="Whether GPUs are read.", option="--nvml", read_at_start=True),
    Setting(
        "kernel_log",
        Form.TEXT,
        "/dev/kmsg",
        "The kernel log that XID errors are read from; an empty text turns this off.",
        may_be_empty=True,
        read_at_start=True,
    ),
    Setting(
        "log_files",
        Form.LIST,
        (),
        "Logs of vLLM servers in files (patterns allowed), as SERVER=PATH, or PATH where the server can be found out.",
        "--log-file",
    ),
    Setting(
        "log_units",
        Form.LIST,
        (),
        "Units of systemd whose journal is the log of a vLLM server, as SERVER=UNIT.",
        "--log-unit",
    ),
    Setting(
        "log_state_file",
        Form.TEXT,
        None,
        "The file that keeps how far logs were read and what was counted; an empty text keeps nothing.",
        default_help="logs-PORT.json in $STATE_DIRECTORY, /var/lib/vllmwatch (root) or ~/.local/state/vllmwatch",
        may_be_empty=True,
        read_at_start=True,
    ),
    Setting(
        "price_per_gpu_hour",
        Form.NUMBER,
        None,
        "What a GPU of this host costs an hour, in a currency of your choice.",
        default_help="not set: no cost of GPUs",
    ),
    Setting(
        "price_per_kilowatt_hour",
        Form.NUMBER,
        None,
        "What a kilowatt-hour costs, in the same currency.",
        default_help="not set: no cost of energy",
    ),
    Setting(
        "reload_over_http",
        Form.BOOLEAN,
        default=False,
        help="Whether POST /-/reload reads the configuration again, as the signal SIGHUP always does.",
    ),
    *ALERTING,
    *SHIPPING,
    Setting(
        "log_level",
        Form.TEXT,
        "info",
        "The least serious messages that are logged.",
        "--log-level",
        choices=("debug", "info", "warning", "error"),
        read_at_start=True,
    ),
    Setting(
        "log_format",
        Form.TEXT,
        "text",
        "How messages are logged.",
        choices=("text", "json"),
        read_at_start=True,
    ),
)

# The keys of one entry of `servers`.
SERVER_KEYS: tuple[Setting, ...] = (
    Setting("url", Form.TEXT, None, "The address of the server, on this host or another.", default_help="required"),
    Setting(
        "gpus",
        Form.LIST,
        None,
        "GPUs and MIG instances in the order of engines and ranks: UUID, index of NVML or PCI address of each.",
        default_help="required",
    ),
)

# The keys of one entry of `targets` when it is a mapping.
TARGET_KEYS: tuple[Setting, ...] = (
    Setting("url", Form.TEXT, None, "The address; /metrics is added when the path has none.", default_help="required"),
    Setting("server", Form.TEXT, None, "The name on its series.", default_help="host:port"),
    Setting("node", Form.TEXT, None, "The host that it is on.", default_help="the host of the address"),
    Setting("labels", Form.LABELS, None, "Labels added to its vLLM series.", default_help="none"),
    Setting("bearer_token", Form.TEXT, None, "The token sent as bearer.", default_help="none", secret=True),
    Setting("bearer_token_file", Form.FILE, None, "A file with the token, read at each scrape.", default_help="none"),
    Setting("username", Form.TEXT, None, "The user of basic authentication.", default_help="none"),
    Setting("password", Form.TEXT, None, "The password of basic authentication.", default_help="none", secret=True),
    Setting("password_file", Form.FILE, None, "A file with the password, read at each scrape.", default_help="none"),
    Setting(
        "ca_file",
        Form.FILE,
        None,
        "The certificate authorities trusted for this target.",
        default_help="the system's",
    ),
    Setting("cert_file", Form.FILE, None, "The client certificate.", default_help="none"),
    Setting("key_file", Form.FILE, None, "The key of the client certificate.", default_help="in cert_file"),
    Setting(
        "insecure_skip_verify", Form.BOOLEAN, default=False, help="Whether any certificate of the target is accepted."
    ),
)
