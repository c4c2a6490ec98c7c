"""Patterns turned inside out: the Collector replaces all of a match, so what is to stay has to stand in groups.

`key=(secret) end` becomes `(key=)(?:secret)( end)`, and the match becomes `${1}[redacted]${2}`.
"""

import re
from dataclasses import dataclass

from vllmwatch.render.pattern_parts import branches, groups

_FLAGS = re.compile(r"\(\?[a-z]+\)")


@dataclass(frozen=True, slots=True)
class Replacement:
    """A pattern, and what stands in place of what it finds, with references to its groups."""

    pattern: str
    text: str


def inverted(pattern: str, text: str) -> Replacement:
    """Return what replaces the group of each branch of a pattern by a text and keeps the rest.

    Raises ValueError where a branch has not just one group of its own that captures.
    """
    flags = _FLAGS.match(pattern)
    found = [_inverted(branch) for branch in branches(pattern[flags.end() :] if flags else pattern)]
    # Of the groups of all branches, only those of the one that matched hold anything.
    before, after = ("".join(f"${{{number}}}" for number in range(first, 2 * len(found) + 1, 2)) for first in (1, 2))
    return Replacement((flags[0] if flags else "") + "|".join(found), f"{before}{text}{after}")


def _inverted(branch: str) -> str:
    capturing = [(start, end) for start, end in groups(branch) if not branch.startswith("(?", start)]
    if len(capturing) != 1:
        raise ValueError(f"{branch!r}: one group is asked for")
    start, end = capturing[0]
    return f"({branch[:start]})(?:{branch[start + 1 : end - 1]})({branch[end:]})"
