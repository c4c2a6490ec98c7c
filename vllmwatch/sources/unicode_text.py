"""Whether a text can be written down: on a page, in an answer, in a log."""

import re
from typing import Final

_SURROGATES: Final = re.compile(r"[\ud800-\udfff]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


def is_unicode(text: str) -> bool:
    """Tell whether a text can be written as UTF-8; bytes that were none become surrogates when they are read."""
    return _SURROGATES.search(text) is None


def is_line(text: str) -> bool:
    """Tell whether a text is one line without control characters."""
    return _CONTROL.search(text) is None


def require_line(text: str) -> str:
    """Return a text that is one line of Unicode, as names are; raises ValueError for another."""
    if not is_unicode(text):
        raise ValueError("a text in Unicode is asked for (UTF-8, no half of a character)")
    if not is_line(text):
        raise ValueError("a text on one line is asked for, without control characters")
    return text


def writable(text: str) -> str:
    """Return a text with escapes in the place of what cannot be written as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def printable(text: str) -> str:
    """Return a text as `writable` does, with escapes for control characters too, which a terminal would obey."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match.group()):02x}", writable(text))
