"""A file is followed through everything that happens to logs, each line read once."""

import os
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vllmwatch.sources.logs.follow import FileFollower
from vllmwatch.sources.logs.lines import LONGEST_LINE_BYTES, LineSplitter

_MOST_READS = 200


def _read(follower: FileFollower) -> list[str]:
    """Read until there is nothing more at once."""
    lines: list[str] = []
    for _ in range(_MOST_READS):
        found = follower.read()
        lines.extend(found.lines)
        if not found.more:
            return lines
    raise AssertionError("it never comes to its end")


def _append(path: Path, text: str) -> None:
    with path.open("a", newline="\n") as stream:
        stream.write(text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "vllm.log"


def test_lines_as_they_are_written(path: Path) -> None:
    path.write_text("old\n")
    follower = FileFollower(path, from_end=True)
    assert _read(follower) == []
    _append(path, "one\ntw")
    assert _read(follower) == ["one"]
    _append(path, "o\nthree\n")
    assert _read(follower) == ["two", "three"]


def test_file_that_comes_later_is_read_from_its_beginning(path: Path) -> None:
    follower = FileFollower(path, from_end=True)
    assert _read(follower) == []
    assert follower.problem == "no such file or directory"
    path.write_text("first\n")
    assert _read(follower) == ["first"]
    assert follower.problem == ""


def test_renamed_file_is_read_to_its_end_before_the_new_one(path: Path) -> None:
    path.write_text("a\n")
    follower = FileFollower(path)
    assert _read(follower) == ["a"]
    _append(path, "b\nno end")
    path.rename(path.with_suffix(".log.1"))
    _append(path.with_suffix(".log.1"), " after all\nc\n")
    path.write_text("d\n")
    assert _read(follower) == ["b", "no end after all", "c", "d"]
    _append(path, "e\n")
    assert _read(follower) == ["e"]


def test_emptied_file(path: Path) -> None:
    path.write_text("a\nb\n")
    follower = FileFollower(path)
    assert _read(follower) == ["a", "b"]
    os.truncate(path, 0)
    assert _read(follower) == []
    _append(path, "c\n")
    assert _read(follower) == ["c"]


def test_file_that_was_copied_emptied_and_has_grown_beyond_where_it_was(path: Path) -> None:
    path.write_text("a\nb\n")
    follower = FileFollower(path)
    assert _read(follower) == ["a", "b"]
    os.truncate(path, 0)
    _append(path, "x\nyyyyyyyyyyyyyyyy\n")
    assert _read(follower) == ["x", "yyyyyyyyyyyyyyyy"]


def test_deleted_file_is_let_go_and_found_again(path: Path) -> None:
    path.write_text("a\n")
    follower = FileFollower(path)
    assert _read(follower) == ["a"]
    path.unlink()
    assert _read(follower) == []
    assert follower.problem == "no such file or directory"
    assert follower.identity is None, "its disk space is free"
    path.write_text("b\n")
    assert _read(follower) == ["b"]


def test_folder_is_a_problem_and_no_crash(tmp_path: Path) -> None:
    follower = FileFollower(tmp_path)
    assert _read(follower) == []
    assert follower.problem == "is a directory"


def test_position_is_taken_up_where_it_was(path: Path) -> None:
    path.write_text("a\nb")
    before = FileFollower(path)
    assert _read(before) == ["a"]
    position = before.position
    before.close()
    _append(path, "c\nd\n")
    assert _read(FileFollower(path, position, from_end=True)) == ["bc", "d"]


def test_file_that_was_renamed_while_nobody_followed(path: Path) -> None:
    path.write_text("a\n")
    before = FileFollower(path)
    _read(before)
    position = before.position
    before.close()
    _append(path, "b\n")
    path.rename(path.with_suffix(".log.1"))
    path.write_text("c\n")
    assert _read(FileFollower(path, position)) == ["b", "c"]


def test_inode_of_another_file_is_not_taken_for_the_one_that_was_read(path: Path) -> None:
    path.write_text("a\nb\n")
    before = FileFollower(path)
    _read(before)
    position = before.position
    before.close()
    path.write_text("z\nb\nc\n")
    assert _read(FileFollower(path, position)) == ["z", "b", "c"]


def test_full_pipe_is_emptied_and_an_empty_one_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    follower = FileFollower(path)
    assert _read(follower) == []
    count = 50_000

    def write() -> None:
        with path.open("w") as pipe:
            pipe.writelines(f"line {number}\n" for number in range(count))

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    lines: list[str] = []
    while writer.is_alive() or (more := _read(follower)):
        lines.extend(more if not writer.is_alive() else _read(follower))
    assert lines == [f"line {number}" for number in range(count)]


def test_line_without_an_end_fills_no_memory_and_the_next_is_whole(path: Path) -> None:
    path.write_bytes(b"x" * (3 * LONGEST_LINE_BYTES) + b"\nnext\n\xff\r\n")
    follower = FileFollower(path)
    first, *others = _read(follower)
    assert len(first) == LONGEST_LINE_BYTES
    assert others == ["next", "\N{REPLACEMENT CHARACTER}\r"]


@given(st.lists(st.binary(max_size=30)))
def test_splitting_does_not_depend_on_how_bytes_come(pieces: list[bytes]) -> None:
    splitter = LineSplitter()
    lines = [line for piece in pieces for line in splitter.split(piece)]
    *whole, rest = b"".join(pieces).split(b"\n")
    assert lines == [line.decode("utf-8", "replace") for line in whole]
    assert splitter.pending == len(rest)


_STEPS = st.lists(st.sampled_from(("write", "half", "rename", "empty", "restart", "read")), max_size=25)


@given(_STEPS)
@settings(max_examples=150, deadline=None)
def test_any_order_of_writing_renaming_emptying_and_restarting(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    path = tmp_path_factory.mktemp("log") / "vllm.log"
    path.touch()
    follower, lines, written, renamed = FileFollower(path), [], [], 0
    half = ""
    for number, step in enumerate((*steps, "read")):
        if step == "write":
            _append(path, f"line {number}\n")
            written.append(f"{half}line {number}")
            half = ""
        elif step == "half":
            _append(path, f"half {number} ")
            half += f"half {number} "
        else:
            # Whoever empties a file that was not read takes its lines away, and half a line may go with a rename.
            lines.extend(_read(follower))
        if step == "restart":
            position = follower.position
            follower.close()
            follower = FileFollower(path, position)
        elif step == "rename":
            renamed += 1
            path.rename(path.with_name(f"vllm.log.{renamed}"))
            path.touch()
            if half:
                written.append(half)
                half = ""
        elif step == "empty":
            os.truncate(path, 0)
            half = ""
    assert lines == written
    follower.close()
