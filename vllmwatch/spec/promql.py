"""Short words that make PromQL readable where it is written, and what can be told from its text."""

import re
from collections.abc import Iterable, Iterator

from vllmwatch.spec.duration import seconds_of

_NAME = re.compile(r"\b(?:vllm:|vllmwatch_|vllmwatch:|http_|process_)[a-z0-9_:]+")
_LABEL_LIST = re.compile(r"\b(by|on|without|ignoring|group_left|group_right)\s*\(([^()]*)\)")
_NOT_LITERAL = re.compile(r"[\\.+*?()|\[\]{}^$]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def select(metric: object, *matchers: str, window: str = "") -> str:
    """Return a selector: `select(NAME, 'le="2.0"', window="5m")` is `NAME{le="2.0"}[5m]`."""
    braces = f"{{{','.join(matchers)}}}" if matchers else ""
    return f"{metric}{braces}{f'[{window}]' if window else ''}"


def aggregate(operator: str, labels: tuple[str, ...], expression: str) -> str:
    """Return an aggregation `by` labels alone, so that no label of a scrape survives."""
    return f"{operator} by ({', '.join(labels)}) ({expression})"


def labels_text(labels: tuple[str, ...]) -> str:
    """Return labels as they stand within parentheses."""
    return ", ".join(labels)


def either(*expressions: str) -> str:
    """Return the first expression, and for series that it lacks the next, and so on."""
    return "\nor\n".join(expressions)


def steps(figure: str, window: str, step: str) -> str:
    """Return the moments of a figure, a step apart, that make up a window; both are such as `1h`."""
    # A second less: releases of Prometheus differ in whether a window has both of its ends, and none counts twice.
    return f"{figure}[{seconds_of(window) - 1}s:{step}]"


def is_text(label: str, text: str) -> str:
    """Return a matcher of the series whose label is a text."""
    return f'{label}="{_quoted(text)}"'


def is_like(label: str, pattern: str) -> str:
    """Return a matcher of the series whose label is as a pattern of RE2 says."""
    return f'{label}=~"{_quoted(pattern)}"'


def is_one_of(label: str, texts: Iterable[str]) -> str:
    """Return a matcher of the series whose label is one of some texts."""
    return f'{label}=~"{_patterns(texts)}"'


def is_none_of(label: str, texts: Iterable[str]) -> str:
    """Return a matcher of the series whose label is none of some texts."""
    return f'{label}!~"{_patterns(texts)}"'


def without_texts(expression: str) -> str:
    """Return an expression with nothing between its quotes."""
    return _STRING.sub('""', expression)


def names_in(expression: str) -> Iterator[str]:
    """Yield every metric name of vLLM's and of ours that an expression reads."""
    for match in _NAME.finditer(without_texts(expression)):
        yield match.group()


def label_lists(expression: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each list of labels with the word before it, such as ("on", ("node", "server"))."""
    for word, labels in _LABEL_LIST.findall(expression):
        yield word, tuple(label.strip() for label in labels.split(",") if label.strip())


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _patterns(texts: Iterable[str]) -> str:
    """Return a pattern of RE2 that these texts alone match, as it stands within quotes."""
    return "|".join(_quoted(_NOT_LITERAL.sub(r"\\\g<0>", text)) for text in texts)
