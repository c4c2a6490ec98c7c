"""Short words that make PromQL readable where it is written, and what can be told from its text."""

import re
from collections.abc import Iterator

_NAME = re.compile(r"\b(?:vllm:|vllmwatch_|vllmwatch:|http_|process_)[a-z0-9_:]+")
_LABEL_LIST = re.compile(r"\b(by|on|without|ignoring|group_left|group_right)\s*\(([^()]*)\)")
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


def names_in(expression: str) -> Iterator[str]:
    """Yield every metric name of vLLM's and of ours that an expression reads."""
    for match in _NAME.finditer(_STRING.sub('""', expression)):
        yield match.group()


def label_lists(expression: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each list of labels with the word before it, such as ("on", ("node", "server"))."""
    for word, labels in _LABEL_LIST.findall(expression):
        yield word, tuple(label.strip() for label in labels.split(",") if label.strip())
