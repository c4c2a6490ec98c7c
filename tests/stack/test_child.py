"""Children are watched, stopped in time, outlived by nothing, and their logs stay small."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from vllmwatch.stack.bounded_log import BoundedLog
from vllmwatch.stack.child import Child

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)"
)
PARENT = """
import sys, time
from pathlib import Path
from vllmwatch.stack.child import Child
child = Child("sleeper", [sys.executable, "-c", "import time; time.sleep(60)"], Path(sys.argv[1]))
print(child.pid, flush=True)
time.sleep(60)
"""


def wait_for_line(child: Child, line: str) -> None:
    deadline = time.monotonic() + 20
    while line not in child.log.last_lines():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_end_and_last_words_of_a_child_are_known(tmp_path: Path) -> None:
    program = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)"
    child = Child("short", [sys.executable, "-u", "-c", program], tmp_path / "log")
    deadline = time.monotonic() + 20
    while child.exit_status is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert child.exit_status == 3
    assert child.last_words() == ["one", "two"]
    child.stop(1)
    assert (tmp_path / "log").read_text() == "one\ntwo\n"


def test_child_that_ignores_the_request_is_killed_after_the_grace_time(tmp_path: Path) -> None:
    child = Child("stubborn", [sys.executable, "-c", STUBBORN], tmp_path / "log")
    wait_for_line(child, "ready")
    begun = time.monotonic()
    child.stop(0.5)
    assert child.exit_status == -signal.SIGKILL
    assert 0.5 <= time.monotonic() - begun < 10


def test_child_that_obeys_is_not_killed(tmp_path: Path) -> None:
    program = STUBBORN.replace("signal.SIG_IGN", "lambda *_: exit(0)").replace("ready", "r")
    child = Child("willing", [sys.executable, "-c", program], tmp_path / "log")
    wait_for_line(child, "r")
    child.stop(20)
    assert child.exit_status == 0


def test_program_that_is_not_there_ends_at_once_and_says_so(tmp_path: Path) -> None:
    child = Child("absent", [str(tmp_path / "absent")], tmp_path / "log")
    deadline = time.monotonic() + 20
    while child.exit_status is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert child.exit_status == 1
    assert child.last_words() == [f"{tmp_path / 'absent'} cannot be started: No such file or directory"]
    child.stop(1)


def test_no_child_outlives_a_parent_that_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log")], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = psutil.Process(int(parent.stdout.readline()))
        while child.cmdline()[1:2] != ["-c"]:  # until the guard has become the program
            time.sleep(0.02)
        parent.kill()
    gone, _ = psutil.wait_procs([child], timeout=10)
    assert gone == [child]


def test_log_is_put_aside_when_full_and_never_more_than_twice_its_limit(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "log", limit_bytes=1000)
    for number in range(500):
        log.write(b"line %03d\n" % number)
    log.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["log", "log.1"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2000
    kept = (tmp_path / "log.1").read_text() + (tmp_path / "log").read_text()
    assert kept.splitlines()[-3:] == ["line 497", "line 498", "line 499"]
    assert log.last_lines()[0] == "line 480"


def test_log_goes_on_where_an_earlier_run_stopped(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"x" * 990)
    log = BoundedLog(tmp_path / "log", limit_bytes=1000)
    log.write(b"a line of twenty byte\n")
    log.close()
    assert (tmp_path / "log").read_text() == "a line of twenty byte\n"


@pytest.mark.parametrize("words", [b"\xff\xfe broken\n", b"no line end"])
def test_any_bytes_can_be_logged(tmp_path: Path, words: bytes) -> None:
    log = BoundedLog(tmp_path / "log")
    log.write(words)
    log.close()
    assert (tmp_path / "log").read_bytes() == words
    assert len(log.last_lines()) == 1
