"""The journal of a unit is followed through a program that speaks as journalctl does; a stand-in plays its part."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vllmwatch.sources.logs.journal import JournalFollower

# Writes the entries of a file behind the cursor that it is given, and waits for more.
_STAND_IN = """
import json, sys, time
arguments = sys.argv[2:]
assert arguments[:5] == ["--follow", "--output", "json", "--unit", "vllm.service"], arguments
cursor = arguments[6] if arguments[5] == "--after-cursor" else None
entries = [json.loads(line) for line in open(sys.argv[1])]
cursors = [entry["__CURSOR"] for entry in entries]
if cursor is not None and cursor not in cursors:
    print("Failed to seek to cursor: Invalid argument", file=sys.stderr)
    sys.exit(1)
start = cursors.index(cursor) + 1 if cursor is not None else len(entries)
for entry in entries[start:]:
    print(json.dumps(entry), flush=True)
time.sleep(60)
"""


def _entry(cursor: str, message: object) -> str:
    return json.dumps({"__CURSOR": cursor, "MESSAGE": message, "_PID": "7"}) + "\n"


@pytest.fixture
def program(tmp_path: Path) -> tuple[str, ...]:
    entries = tmp_path / "entries"
    entries.write_text(
        _entry("c1", "one") + _entry("c2", "two\nthree") + _entry("c3", [0xFF, 0x61]) + _entry("c4", None)
    )
    script = tmp_path / "stand_in.py"
    script.write_text(_STAND_IN)
    return (sys.executable, str(script), str(entries))


def _until(done: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_entries_behind_the_cursor_are_read_and_the_cursor_goes_with_them(program: tuple[str, ...]) -> None:
    follower = JournalFollower("vllm.service", "c1", program=program)
    lines: list[str] = []

    def read() -> bool:
        lines.extend(follower.read().lines)
        return follower.cursor == "c4"

    _until(read)
    follower.close()
    assert lines == ["two", "three", "\N{REPLACEMENT CHARACTER}a"]
    assert follower.problem == ""


def test_place_that_the_journal_has_lost_is_said_and_given_up(program: tuple[str, ...]) -> None:
    follower = JournalFollower("vllm.service", "gone", program=program)

    def failed() -> bool:
        follower.read()
        return bool(follower.problem)

    _until(failed)
    assert follower.problem == "Failed to seek to cursor: Invalid argument"
    assert follower.cursor == ""
    follower.close()


def test_missing_program_is_said_and_tried_again_after_a_pause() -> None:
    now = [0.0]
    follower = JournalFollower("vllm.service", program=("/absent/journalctl",), clock=lambda: now[0])
    assert follower.read().lines == ()
    assert follower.problem == "/absent/journalctl: no such file or directory"
    follower.problem = ""
    follower.read()
    assert follower.problem == "", "not asked again at once"
    now[0] = 1.5
    follower.read()
    assert follower.problem != ""
