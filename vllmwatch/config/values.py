"""Reads one value by its form; pure. What is wrong is a ValueError whose text says what is asked for."""

import datetime as dt
import json
import math
import re
from collections.abc import Callable
from urllib.parse import urlsplit

from vllmwatch.config.given import Given
from vllmwatch.sources.address import mask_secrets
from vllmwatch.sources.unicode_text import is_line, is_unicode, require_line
from vllmwatch.spec.setting import Form, Setting

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_SIZE = re.compile(r"(\d+)\s*(B|kB|MB|GB|KiB|MiB|GiB)?")
_BYTES = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})
_ADDRESS = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\s\[\]:/@]*):(?P<port>\d{1,5})")
_KINDS: tuple[tuple[type, str], ...] = (
    (dt.date, "a date"),
    (dict, "a mapping"),
    (list, "a list"),
    (tuple, "a list"),
    (set, "a set"),
)
_PORT_LIMIT = 65_535
_URL_SCHEMES = frozenset({"http", "https"})


def describe(value: object, *, secret: bool = False) -> str:
    """Say in words what a raw value is; texts and numbers are shown, unless they are secret."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return f"{str(value).lower()} (yes, no, on and off are true and false in YAML)"
    for kind, words in _KINDS:
        if isinstance(value, kind):
            return words
    if secret:
        return "a number" if isinstance(value, int | float) else "that text"
    return repr(value)


def read_value(setting: Setting, given: Given) -> object:
    """Return the value of a setting (not of form TARGETS or LABELS) in its base unit."""
    raw = given.value
    value = _READERS[setting.form](setting, given)
    if setting.choices and value not in setting.choices:
        raise ValueError(f"one of {', '.join(setting.choices)} is asked for, not {describe(raw)}")
    if isinstance(value, int | float) and not isinstance(value, bool) and value < setting.minimum:
        raise ValueError(f"at least {setting.minimum:g} is asked for, not {describe(raw)}")
    return value


def finite(raw: object) -> float | None:
    """Return a number as one that can be reckoned with; None where it is none, or too great."""
    if not isinstance(raw, int | float) or isinstance(raw, bool):
        return None
    try:
        return float(raw) if math.isfinite(raw) else None
    except OverflowError:
        return None


def seconds(raw: object) -> float | None:
    """Return the seconds of a number, or of a text such as 90s, 5m or 1h; None where it is neither."""
    match = _DURATION.fullmatch(raw.strip()) if isinstance(raw, str) else None
    return finite(float(match[1]) * _SECONDS[match[2] or "s"]) if match is not None else finite(raw)


def split_address(text: str) -> tuple[str, int]:
    """Split host:port as the exporter listens on it; raises ValueError."""
    match = _ADDRESS.fullmatch(text)
    if match is not None and int(match["port"]) > _PORT_LIMIT:
        raise ValueError(f"a port of at most {_PORT_LIMIT} is asked for, not {match['port']}")
    if match is None:
        raise ValueError(f"{Form.ADDRESS} is asked for, not {mask_secrets(text)!r}")
    return match["host"].strip("[]"), int(match["port"])


def _mismatch(setting: Setting, raw: object, advice: str = "") -> ValueError:
    return ValueError(f"{setting.form} is asked for, not {describe(raw, secret=setting.secret)}{advice}")


def _read_text(setting: Setting, given: Given) -> str:
    raw = given.value
    if not isinstance(raw, str):
        quotable = raw is not None and not isinstance(raw, dict | list)
        raise _mismatch(setting, raw, "; put it in quotes" if quotable else "")
    if not raw.strip() and not setting.may_be_empty:
        raise ValueError(f"{setting.form} is asked for, not an empty one")
    if setting.key == "bearer_token" and not raw.isascii():
        raise ValueError("a token is asked for that a header can carry: ASCII alone")
    return require_line(raw)


def is_web_address(text: str) -> bool:
    """Tell whether a text is an address of HTTP with a host."""
    try:
        parts = urlsplit(text)
        return parts.scheme in _URL_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _read_url(setting: Setting, given: Given) -> str:
    url = _read_text(setting, given)
    if not is_web_address(url):
        raise ValueError(f"{setting.form} is asked for, not {mask_secrets(url)!r}")
    # What follows it is a path; and in an annotation of an alert braces are a template.
    if stray := re.search(r"[?#{}\s]", url):
        raise ValueError(f"{setting.form} is asked for, without {stray.group()!r}")
    return url


def _read_address(setting: Setting, given: Given) -> str:
    raw = given.value
    if isinstance(raw, int) and not isinstance(raw, bool):
        raise _mismatch(setting, raw, f"; for this host alone write '127.0.0.1:{raw}', for all addresses ':{raw}'")
    if not isinstance(raw, str):
        raise _mismatch(setting, raw)
    split_address(raw)
    return raw


def _read_boolean(setting: Setting, given: Given) -> bool:
    raw = given.value
    if isinstance(raw, bool):
        return raw
    if given.textual and isinstance(raw, str) and raw.strip().lower() in _YES | _NO:
        return raw.strip().lower() in _YES
    # Without quotes, YAML would have read these words as what they mean.
    quoted = not given.textual and isinstance(raw, str) and raw.strip().lower() in (_YES | _NO) - {"0", "1"}
    raise _mismatch(setting, raw, "; leave the quotes out" if quoted else "")


def _read_whole_number(setting: Setting, given: Given) -> int:
    raw = given.value
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    if given.textual and isinstance(raw, str) and re.fullmatch(r"\s*-?\d+\s*", raw):
        return int(raw)
    raise _mismatch(setting, raw)


def _read_number(setting: Setting, given: Given) -> float:
    raw = given.value
    try:
        number = float(raw) if isinstance(raw, str) and given.textual else raw
    except ValueError:
        number = raw
    found = finite(number)
    if found is None:
        raise _mismatch(setting, raw)
    return found


def _read_seconds(setting: Setting, given: Given) -> float:
    found = seconds(given.value)
    if found is None:
        raise _mismatch(setting, given.value)
    return found


def _read_bytes(setting: Setting, given: Given) -> int:
    raw = given.value
    if isinstance(raw, int) and not isinstance(raw, bool):
        return raw
    match = _SIZE.fullmatch(raw.strip()) if isinstance(raw, str) else None
    if match is None:
        raise _mismatch(setting, raw)
    return int(match[1]) * _BYTES[match[2] or "B"]


def _read_list(setting: Setting, given: Given) -> tuple[str, ...]:
    raw = given.value
    items = split_list(raw) if given.textual and isinstance(raw, str) else raw
    if isinstance(items, str):
        raise _mismatch(setting, raw, f"; write [{mask_secrets(items)}]")
    if not isinstance(items, list | tuple):
        raise _mismatch(setting, raw)
    for number, item in enumerate(items, 1):
        if not isinstance(item, str) or not item.strip() or not (is_line(item) and is_unicode(item)):
            raise ValueError(f"{setting.form} is asked for, and item {number} is {describe(item) if item else 'empty'}")
    return tuple(dict.fromkeys(items))


def _read_numbers(setting: Setting, given: Given) -> tuple[float, ...]:
    raw = given.value
    items = split_list(raw) if given.textual and isinstance(raw, str) else raw
    if not isinstance(items, list | tuple):
        raise _mismatch(setting, raw)
    numbers = [_number(item) if given.textual else finite(item) for item in items]
    found = tuple(sorted({number for number in numbers if number is not None and number > 0}))
    if len(found) < len(numbers):
        raise ValueError(f"{setting.form} is asked for, each once")
    return found


def _number(item: object) -> float | None:
    """Return the number that a text of the environment says; None where it says none."""
    try:
        return finite(float(item)) if isinstance(item, str) else finite(item)
    except ValueError:
        return None


def split_list(text: str) -> list[object]:
    """Split the text of a list: JSON where it begins with a bracket, else items between commas; raises ValueError."""
    if text.lstrip().startswith("{"):
        raise ValueError("a mapping in JSON begins there, and a list is asked for; put it in brackets: [{…}]")
    if text.lstrip().startswith("["):
        try:
            parsed = json.loads(text)
        except ValueError as error:
            raise ValueError(f"a list in JSON begins there, and it is broken: {error}") from None
        except RecursionError:
            raise ValueError("a list in JSON begins there, and it is nested too deep") from None
        return list(parsed)
    return [item.strip() for item in text.split(",") if item.strip()]


_READERS: dict[Form, Callable[[Setting, Given], object]] = {
    Form.ADDRESS: _read_address,
    Form.BOOLEAN: _read_boolean,
    Form.BYTES: _read_bytes,
    Form.FILE: _read_text,
    Form.LIST: _read_list,
    Form.NUMBER: _read_number,
    Form.NUMBERS: _read_numbers,
    Form.SECONDS: _read_seconds,
    Form.TEXT: _read_text,
    Form.URL: _read_url,
    Form.WHOLE_NUMBER: _read_whole_number,
}
