"""Where the parts of a pattern begin and end: classes of characters, groups, branches."""

from itertools import pairwise


def groups(pattern: str) -> list[tuple[int, int]]:
    """Return where each group that is in no other begins and ends."""
    plain = _plain(pattern)
    found: list[tuple[int, int]] = []
    opened: list[int] = []
    for index, character in enumerate(pattern):
        if index in plain:
            continue
        if character == "(":
            opened.append(index)
        elif character == ")":
            start = opened.pop()
            if not opened:
                found.append((start, index + 1))
    return found


def branches(pattern: str) -> list[str]:
    """Return the branches of a pattern, one where it has none."""
    plain = _plain(pattern)
    inside = {index for start, end in groups(pattern) for index in range(start, end)}
    bars = [index for index, character in enumerate(pattern) if character == "|" and index not in plain | inside]
    return [pattern[start + 1 : end] for start, end in pairwise([-1, *bars, len(pattern)])]


def _plain(pattern: str) -> set[int]:
    """Return where signs stand for themselves: in classes of characters, and behind a backslash."""
    found: set[int] = set()
    start = 0
    while start < len(pattern):
        end = start + 1
        if pattern[start] == "\\":
            end = start + 2
        elif pattern[start] == "[":
            end = _end_of_class(pattern, start)
        if end > start + 1:
            found.update(range(start, end))
        start = end
    return found


def _end_of_class(pattern: str, start: int) -> int:
    index = start + (2 if pattern.startswith("[^", start) else 1)
    first = index  # a bracket that closes is a character where it stands first
    while pattern[index] != "]" or index == first:
        index += 2 if pattern[index] == "\\" else 1
    return index + 1
