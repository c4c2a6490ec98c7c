"""What single settings allow beyond their form; pure."""

import re
from collections.abc import Callable, Mapping

from vllmwatch.catalog.settings import KEPT_LABELS
from vllmwatch.spec.setting import Setting

_METRIC_PREFIX = re.compile(r"[a-zA-Z_][a-zA-Z0-9_:]*")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
# Prometheus reads patterns as RE2 does (https://github.com/google/re2/wiki/Syntax): what Python has beyond it, and the
# classes that it has beyond Python.
_BEYOND_RE2 = re.compile(r"\(\?(?:[=!>]|<[=!]|P=|\(|#)|\\[1-9]|[*+?}]\+")
_UNICODE_CLASS = re.compile(r"\\[pP](?:[A-Z]|\{\^?\w+\})")
_ESCAPED = re.compile(r"\\[^\w\s]")


def require_allowed(setting: Setting, value: object) -> None:
    """Raise ValueError for a value that has the form of its setting and cannot be meant."""
    check = _CHECKS.get(setting.key)
    for text in (value,) if isinstance(value, str) else texts(value):
        if check is not None:
            check(text)


def texts(value: object) -> tuple[str, ...]:
    """Return a value that is a list of texts; empty where it is none."""
    return value if isinstance(value, tuple) else ()


def _require_pattern(pattern: str) -> None:
    if pattern != pattern.strip():
        raise ValueError("a pattern without blanks around it is asked for")
    beyond = _BEYOND_RE2.search(_ESCAPED.sub("", pattern))
    if beyond is not None:
        raise ValueError(f"Prometheus's patterns (RE2) know no {beyond.group()!r}")
    try:
        re.compile(_UNICODE_CLASS.sub("a", pattern))
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"this is no pattern: {error}") from None


def _require_droppable(label: str) -> None:
    if label in KEPT_LABELS:
        raise ValueError(f"label {label!r} cannot be dropped: series that differ would become one")


def _require_prefix(prefix: str) -> None:
    if not _METRIC_PREFIX.fullmatch(prefix):
        raise ValueError(f"{prefix!r} cannot begin the name of a metric")


def _require_label(label: str) -> None:
    if not _LABEL.fullmatch(label):
        raise ValueError(f"{label!r} is no name of a label")


_CHECKS: Mapping[str, Callable[[str], None]] = {
    "direct_jobs": _require_pattern,
    "drop_labels": _require_droppable,
    "external_labels": _require_label,
    "metric_prefixes": _require_prefix,
}
