"""What single settings allow beyond their form; pure."""

import re
from collections.abc import Callable, Mapping
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vllmwatch.catalog.settings import KEPT_LABELS
from vllmwatch.catalog.shipping import HOST_ZONE
from vllmwatch.config.patterns import require_pattern
from vllmwatch.spec.setting import Setting

_METRIC_PREFIX = re.compile(r"[a-zA-Z_][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")


def require_allowed(setting: Setting, value: object) -> None:
    """Raise ValueError for a value that has the form of its setting and cannot be meant."""
    check = _CHECKS.get(setting.key)
    for text in (value,) if isinstance(value, str) else texts(value):
        if check is not None:
            check(text)


def texts(value: object) -> tuple[str, ...]:
    """Return a value that is a list of texts; empty where it is none."""
    return value if isinstance(value, tuple) else ()


def _require_jobs(pattern: str) -> None:
    if pattern != pattern.strip():
        raise ValueError("a pattern without blanks around it is asked for")
    require_pattern(pattern)


def _require_droppable(label: str) -> None:
    if label in KEPT_LABELS:
        raise ValueError(f"label {label!r} cannot be dropped: series that differ would become one")


def _require_prefix(prefix: str) -> None:
    if not _METRIC_PREFIX.fullmatch(prefix):
        raise ValueError(f"{prefix!r} cannot begin the name of a metric")


def _require_label(label: str) -> None:
    if not _LABEL.fullmatch(label):
        raise ValueError(f"{label!r} is no name of a label")


def _require_zone(zone: str) -> None:
    if zone == HOST_ZONE:
        return
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no time zone {zone!r}") from None


_CHECKS: Mapping[str, Callable[[str], None]] = {
    "direct_jobs": _require_jobs,
    "drop_labels": _require_droppable,
    "external_labels": _require_label,
    "log_time_zone": _require_zone,
    "metric_prefixes": _require_prefix,
}
