"""What nobody may keep is taken out of a line before anything else is made of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from vllmwatch.spec.logline import REDACTED, Redaction


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without what nobody may keep; `payload` says whether what follows without a prefix belongs to that."""

    text: str
    payload: bool


class Redactor:
    """Takes what nobody may keep out of texts."""

    def __init__(self, redactions: Sequence[Redaction]) -> None:
        self._patterns = tuple((re.compile(redaction.pattern), redaction.payload) for redaction in redactions)

    def redact(self, text: str) -> Redacted:
        """Return the text with each secret replaced."""
        payload = False
        for pattern, is_payload in self._patterns:
            replaced = replace_groups(pattern, text, REDACTED)
            payload = payload or (is_payload and replaced != text)
            text = replaced
        return Redacted(text, payload)


def replace_groups(pattern: re.Pattern[str], text: str, word: str) -> str:
    """Return a text with a word in place of what the groups of each match hold."""
    done, end = [], 0
    for match in pattern.finditer(text):
        for group in range(1, pattern.groups + 1):
            start, stop = match.span(group)
            if start < end or start == stop:
                continue
            done.append(text[end:start] + word)
            end = stop
    return "".join(done) + text[end:] if done else text
