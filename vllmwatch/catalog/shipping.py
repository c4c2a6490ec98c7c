"""The settings of how logs get to Loki, and what is kept of them there."""

from vllmwatch.spec.setting import Form, Setting

_DAY = 86_400
# Alloy's word for the zone of the host that it runs on.
HOST_ZONE = "Local"

SHIPPING: tuple[Setting, ...] = (
    Setting("loki_url", Form.URL, "http://localhost:3100", "Where Loki is, to which logs are sent."),
    Setting(
        "log_containers",
        Form.BOOLEAN,
        default=True,
        help="Whether the logs of Docker's containers are shipped, besides those of log_files and log_units.",
    ),
    Setting(
        "log_time_zone",
        Form.TEXT,
        HOST_ZONE,
        "The time zone of the times in log_files, such as Europe/Berlin; Local is that of the host that ships them.",
    ),
    Setting(
        "log_payloads",
        Form.BOOLEAN,
        default=False,
        help="Whether what users wrote and models answered is kept where logs hold it; keys and passwords never are.",
    ),
    Setting(
        "log_retention_seconds",
        Form.SECONDS,
        14 * _DAY,
        "How long Loki keeps logs.",
        minimum=_DAY,
    ),
    Setting(
        "log_payload_retention_seconds",
        Form.SECONDS,
        _DAY,
        "How long Loki keeps what users wrote and models answered, where log_payloads is on.",
        minimum=_DAY,
    ),
)
