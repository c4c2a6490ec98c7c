"""The grammar of a metrics page: text format 0.0.4 and OpenMetrics, line by line.

Grammar: https://prometheus.io/docs/instrumenting/exposition_formats/ and the OpenMetrics specification 1.0.0.
A page is read as bytes, so that a line that is not UTF-8 costs that line alone.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

# Name, labels between braces (quoted values may hold braces), value, then a timestamp or an exemplar.
_SAMPLE = re.compile(
    rb"""\s*([a-zA-Z_:][a-zA-Z0-9_:]*+)\s*+
         (?:\{((?:[^"}]|"(?:[^"\\]|\\.)*+")*+)\}\s*+)?
         (\S++)\s*+(.*)""",
    re.VERBOSE | re.DOTALL,
)
_LABEL = re.compile(rb'\s*+([a-zA-Z_][a-zA-Z0-9_]*+)\s*+=\s*+"((?:[^"\\]|\\.)*+)"\s*+(?:,|\Z)', re.DOTALL)
_TIMESTAMP_OR_EXEMPLAR = re.compile(rb"(?:[-+]?\d[\d.eE+-]*+\s*+)?(?:#\s*+\{.*)?", re.DOTALL)
_VALUE = re.compile(rb"[+-]?(?:(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d++)?|[Ii]nf(?:inity)?|INF|[Nn]a[Nn]|NAN)")
_HEADER = re.compile(rb"\s*#\s+(HELP|TYPE)\s+([a-zA-Z_:][a-zA-Z0-9_:]*+)(?:[ \t]++(.*))?", re.DOTALL)
# Too few digits, before the point and in the exponent, to leave the range of a float.
# The first alternative is the second's plainest case, which nearly all values are; alone it is read five times as fast.
_USUAL_VALUES = re.compile(rb"(?:\d{1,40}+\.\d{1,40}+\n|(?:-?\d{1,40}+(?:\.\d{1,40}+)?(?:e[+-]\d\d)?|NaN|[+-]Inf)\n)*+")
_ESCAPE = re.compile(r'\\([\\"n])')
_UNESCAPED = {"\\": "\\", '"': '"', "n": "\n"}


class LineError(ValueError):
    """A line that is not in the format."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample line: the series, the text of its value, and where that text begins and ends in the line."""

    name: str
    labels: tuple[tuple[str, str], ...]
    value: bytes
    value_start: int
    bare: bool
    """Whether nothing (no timestamp, no exemplar, no white space) follows the value."""


@dataclass(frozen=True, slots=True)
class Header:
    """One HELP or TYPE line."""

    is_help: bool
    name: str
    text: str


def read_header(line: bytes) -> Header | None:
    """Read a comment line; None where it is neither HELP nor TYPE. Raises LineError where it is not UTF-8."""
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    word, name, text = match.groups()
    return Header(word == b"HELP", name.decode("ascii"), _decode(text or b"").strip("\r"))


def read_sample(line: bytes) -> Sample:
    """Read a sample line; raises LineError with what is wrong with it."""
    match = _SAMPLE.fullmatch(line)
    if match is None:
        raise LineError("not a sample line")
    name, labels, value, rest = match.groups()
    if not is_value(value):
        raise LineError("the value is not a number")
    if rest and not _TIMESTAMP_OR_EXEMPLAR.fullmatch(rest.rstrip()):
        raise LineError("what follows the value is neither a timestamp nor an exemplar")
    return Sample(
        name.decode("ascii"),
        _read_labels(labels) if labels else (),
        value,
        match.start(3),
        bare=match.end(3) == len(line),
    )


def is_value(text: bytes) -> bool:
    """Whether a text is a sample value that Prometheus can hold; a number past the range of a float is not."""
    if not _VALUE.fullmatch(text):
        return False
    return math.isfinite(float(text)) or text.lstrip(b"+-")[:1] in b"iInN"


def are_values(texts: Sequence[bytes]) -> bool:
    """Whether all texts are sample values; as `is_value` for each, and much quicker for those in usual forms."""
    return _USUAL_VALUES.fullmatch(b"\n".join((*texts, b""))) is not None or all(map(is_value, texts))


def format_bound(text: str) -> str:
    """Write a bucket's edge or a quantile as Prometheus 3 writes it ("2.0", "+Inf", "1e+06"); not a number: as it is.

    Follows Go's shortest formatting, which turns to an exponent below 1e-4 and from 1e+06 on, with ".0" after
    whole numbers.
    """
    try:
        value = float(text)
    except ValueError:
        return text
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "0.0"
    mantissa, _, exponent = f"{value!r}".partition("e")
    if not exponent and 1e-4 <= abs(value) < 1e6:  # noqa: PLR2004  the bounds that the docstring names
        return mantissa if "." in mantissa else f"{mantissa}.0"
    return _with_exponent(value)


def _with_exponent(value: float) -> str:
    for digits in range(17):
        text = f"{value:.{digits}e}"
        if float(text) == value:
            break
    return text


def _read_labels(text: bytes) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        match = _LABEL.match(text, position)
        if match is None:
            if not text[position:].strip(b", \t"):
                break
            raise LineError("the labels are not in the format")
        name = match.group(1).decode("ascii")
        if name in found or name == "__name__":
            raise LineError(f"label {name} is given twice")
        found[name] = _unescape(_decode(match.group(2)))
        position = match.end()
    return tuple(found.items())


def _decode(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise LineError("not UTF-8") from error


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _UNESCAPED[match.group(1)], text)
