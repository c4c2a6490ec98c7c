"""One `vllmwatch up` at a time uses a state directory, and a lock that is left behind locks nobody out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vllmwatch.errors import StartError
from vllmwatch.stack.state import StateDirectory

HOLDER = """
import sys, time
from pathlib import Path
from vllmwatch.stack.state import StateDirectory
with StateDirectory(Path(sys.argv[1])).held():
    print("held", flush=True)
    time.sleep(60)
"""


def test_second_holder_is_refused_in_one_line_that_names_the_first(tmp_path: Path) -> None:
    with StateDirectory(tmp_path).held(), pytest.raises(StartError) as caught, StateDirectory(tmp_path).held():
        pass
    assert caught.value.message == f"the stack already runs on {tmp_path} (process {os.getpid()})"


def test_lock_of_a_killed_process_is_not_in_the_way(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(StartError, match=f"process {holder.pid}"), StateDirectory(tmp_path).held():
            pass
        holder.kill()
        holder.wait()
    with StateDirectory(tmp_path).held():
        assert (tmp_path / "up" / "lock").read_text() == str(os.getpid())


def test_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StartError, match="Not a directory") as caught:
        StateDirectory(tmp_path / "file" / "state")
    assert "--state" in caught.value.hint
