"""What the settings make of the way of logs: which are shipped, where to, what is kept of them and for how long."""

from dataclasses import dataclass

DAY = 86400.0


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What is shipped from this host and kept.

    `files` and `units` are pairs of a server and its file, or its unit of systemd. `time_zone` is that of times in
    files, "Local" for the host's own. `keep_payloads` says whether what users wrote and models answered is kept, in
    streams of their own for `payload_retention_seconds`; what opens doors never is.
    """

    loki_url: str = "http://localhost:3100"
    alertmanager_url: str = "http://localhost:9093"
    containers: bool = True
    files: tuple[tuple[str, str], ...] = ()
    units: tuple[tuple[str, str], ...] = ()
    time_zone: str = "Local"
    keep_payloads: bool = False
    retention_seconds: float = 14 * DAY
    payload_retention_seconds: float = DAY


COMPOSE = LogSettings(loki_url="http://loki:3100", alertmanager_url="http://alertmanager:9093")
"""What holds among the services of compose/."""
PAYLOAD_LABEL = "payload"
PAYLOAD_VALUE = "kept"
"""The label, and its value, of the streams that hold what users wrote and models answered."""
