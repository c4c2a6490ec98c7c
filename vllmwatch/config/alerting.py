"""Reads the settings of alerts: thresholds of models, severities, quiet hours."""

import re
from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from vllmwatch.catalog.alert_names import ALERT_NAMES
from vllmwatch.catalog.thresholds import THRESHOLDS
from vllmwatch.config.given import FaultsError, Given, Held
from vllmwatch.config.structure import mapping, near
from vllmwatch.config.values import describe, finite, seconds
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.unicode_text import require_line
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.receiver import QuietHours
from vllmwatch.spec.setting import Form
from vllmwatch.spec.unit import SECONDS

_PER_MODEL = {threshold.key: threshold for threshold in THRESHOLDS if threshold.per_model}
_HOURS = re.compile(r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2}) (\S+)")


def read_models(given: Given) -> dict[str, dict[str, float]]:
    """Return the thresholds of single models."""
    models: dict[str, dict[str, float]] = {}
    faults: list[str] = []
    for model, values in mapping(given, "models", Form.MODELS).items():
        where = f"{given.place(model)}: models: {model}"
        if fault := _fault_of_name(model):
            faults.append(f"{given.place(model)}: models: {fault}")
            continue
        if not isinstance(values, dict):
            faults.append(f"{where}: a mapping of thresholds is asked for, not {describe(values)}")
            continue
        for key, value in values.items():
            try:
                models.setdefault(model, {})[key] = _threshold(key, value)
            except ValueError as error:
                faults.append(f"{given.place(model, key)}: models: {model}: {error}")
    if faults:
        raise FaultsError(*faults)
    return models


def read_severities(given: Given) -> dict[str, Severity]:
    """Return the severities of single alerts."""
    severities: dict[str, Severity] = {}
    faults: list[str] = []
    for name, value in mapping(given, "severities", Form.SEVERITIES).items():
        where = f"{given.place(name)}: severities"
        if name not in ALERT_NAMES:
            faults.append(f"{where}: there is no alert {name!r}{near(name, ALERT_NAMES)}")
        elif not isinstance(value, str) or value not in set(Severity):
            faults.append(f"{where}: {name}: one of {', '.join(Severity)} is asked for, not {describe(value)}")
        else:
            severities[name] = Severity(value)
    if faults:
        raise FaultsError(*faults)
    return severities


def read_quiet_hours(given: Given) -> QuietHours:
    """Return the hours in which tickets wait."""
    text = given.value
    match = _HOURS.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or not _is_time(match[1], match[2]) or not _is_time(match[3], match[4]):
        raise FaultsError(f"{given.place()}: quiet_hours: {Form.QUIET_HOURS} is asked for, not {describe(text)}")
    start, end = f"{match[1]}:{match[2]}", f"{match[3]}:{match[4]}"
    try:
        ZoneInfo(match[5])
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise FaultsError(f"{given.place()}: quiet_hours: there is no time zone {match[5]!r}") from None
    if start == end:
        raise FaultsError(f"{given.place()}: quiet_hours: from {start} to {end} is no time, or all of it")
    return QuietHours(start, end, match[5])


def require_threshold(key: str, value: object) -> None:
    """Raise ValueError for a threshold that cannot be meant; other settings pass."""
    threshold = next((each for each in THRESHOLDS if each.key == key), None)
    if threshold is not None and isinstance(value, int | float):
        threshold.require(value)


def faults_of_edges(held: Mapping[str, Held]) -> Iterator[str]:
    """Yield a fault for each threshold, of all models or of one, that is at no bucket edge."""
    models: Any = held["models"]
    for threshold in (each for each in THRESHOLDS if each.edges_setting):
        others: Any = held[threshold.edges_setting].value
        key = threshold.key
        values = [(held[key].number, f"{held[key].origin}: {key}")]
        for model, own in dict(models.value or {}).items():
            if key in own:
                place = models.given.place(model, key) if models.given else models.origin
                values.append((own[key], f"{place}: models: {model}: {key}"))
        for value, where in values:
            try:
                threshold.require_edge(value, others)
            except ValueError as error:
                yield f"{where}: {error} (others: {threshold.edges_setting})"


def _threshold(key: str, value: object) -> float:
    if key not in _PER_MODEL:
        raise ValueError(f"unknown threshold {mask_secrets(str(key))!r}{near(str(key), _PER_MODEL)}")
    threshold = _PER_MODEL[key]
    number = seconds(value) if threshold.unit is SECONDS else finite(value)
    if number is None:
        form = Form.SECONDS if threshold.unit is SECONDS else Form.NUMBER
        raise ValueError(f"{key}: {form} is asked for, not {describe(value)}")
    try:
        threshold.require(number)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None
    return number


def _fault_of_name(model: str) -> str:
    """Return what is wrong with the name of a model, which becomes a label in PromQL; empty where nothing is."""
    if not model.strip():
        return "the name of a model is asked for, not an empty one"
    try:
        require_line(model)
    except ValueError as error:
        return f"{model!r}: {error}"
    return ""


def _is_time(hours: str, minutes: str) -> bool:
    return int(hours) < 24 and int(minutes) < 60  # noqa: PLR2004  a clock's
