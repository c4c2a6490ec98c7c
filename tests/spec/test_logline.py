"""Lines of a log refuse a name, a pattern or examples that would mislead."""

from typing import Any

import pytest

from vllmwatch.spec.logline import Event, Figure, Grade, LogSource, Milestone, Prefix, Redaction

_EVENT: dict[str, Any] = {
    "name": "disk_full",
    "source": LogSource.VLLM,
    "grade": Grade.FAULT,
    "meaning": "a disk is full",
    "remedy": "Free it.",
    "pattern": "No space left",
    "matches": ("No space left",),
    "misses": ("x",),
}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"name": "DiskFull"}, "lower-case words"),
        ({"pattern": "a(?=b)"}, "RE2"),
        ({"pattern": "a(?!b)"}, "RE2"),
        ({"pattern": "(?<=a)b"}, "RE2"),
        ({"pattern": "(?<!a)b"}, "RE2"),
        ({"pattern": r"(a)\1"}, "RE2"),
        ({"pattern": "(?P<a>b)(?P=a)"}, "RE2"),
        ({"pattern": "a++"}, "RE2"),
        ({"pattern": "(?>a)"}, "RE2"),
        ({"matches": ()}, "lines that match"),
        ({"misses": ()}, "lines that do not"),
        ({"meaning": "A disk is full."}, "without a full stop"),
        ({"remedy": "free it"}, "with one"),
    ],
)
def test_event_that_misleads_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Event(**(_EVENT | changes))


def test_prefix_is_found_at_the_beginning_and_says_what_is_behind_it() -> None:
    with pytest.raises(ValueError, match="groups are message"):
        Prefix("a", "all", "^x", (("x", {}),))
    with pytest.raises(ValueError, match="groups are message"):
        Prefix("a", "all", "^(?P<thread>x)(?P<message>.*)", (("x", {}),))
    with pytest.raises(ValueError, match="at the beginning"):
        Prefix("a", "all", "(?P<message>.*)", (("x", {}),))


def test_figure_has_one_group_and_a_redaction_any() -> None:
    with pytest.raises(ValueError, match="one group"):
        Figure("tokens", "a(b)(c)")
    with pytest.raises(ValueError, match="a group that is replaced"):
        Redaction("key", "a key", "key=.*", (("key=1", "key=1"),))
    with pytest.raises(ValueError, match="examples"):
        Milestone("ready", "ready", ())
