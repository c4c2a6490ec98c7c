"""Whether a text is a pattern of Prometheus and Alertmanager, who read them as RE2 does; pure.

https://github.com/google/re2/wiki/Syntax
"""

import re
import warnings

# What Python has beyond RE2.
_BEYOND_RE2 = re.compile(r"\(\?(?:[=!>]|<[=!]|P=|\(|#|[ims-]*[aLux])|\\[1-9]|[*+?}]\+")
# What RE2 has beyond Python, each with what is as good for Python.
_BEYOND_PYTHON = (
    (re.compile(r"\\Q.*?(?:\\E|$)", re.DOTALL), "a"),
    (re.compile(r"\\[pP](?:[A-Z]|\{\^?\w+\})"), "a"),
    (re.compile(r"\[:\^?[a-z]+:\]"), "a"),
    (re.compile(r"\\z"), "$"),
    (re.compile(r"(?<!\\)\(\?[imsU]*(?:-[imsU]+)?\)"), ""),
    (re.compile(r"(?<!\\)\(\?[imsU]*(?:-[imsU]+)?:"), "(?:"),
    (re.compile(r"(?<!\\)\(\?<(?=\w)"), "(?P<"),
)
_ESCAPED = re.compile(r"\\[^\w\s]")
# Between brackets, signs stand for themselves.
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")


def require_pattern(pattern: str) -> None:
    """Raise ValueError for what is no pattern; RE2's narrow rules are left to whoever asks."""
    for words, as_good in _BEYOND_PYTHON:
        pattern = words.sub(as_good, pattern)
    beyond = _BEYOND_RE2.search(_CLASS.sub("a", _ESCAPED.sub("", pattern)))
    if beyond is not None:
        raise ValueError(f"Prometheus's patterns (RE2) know no {beyond.group()!r}")
    try:
        with warnings.catch_warnings():
            # Python means to read sets within sets some day; RE2 has none.
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"this is no pattern: {error}") from None
