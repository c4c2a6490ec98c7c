"""A skip for want of a peer is a failure in CI, and only there; other skips stay skips."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.real.places import ROOT
from tests.required_peers import REQUIRED_MARKS

TESTS = """
import pytest

@pytest.fixture
def peer():
    pytest.skip("the peer is not there")

@pytest.mark.{mark}
def test_of_a_peer(peer): ...

def test_of_something_else():
    pytest.skip("not today")

@pytest.mark.{mark}
@pytest.mark.xfail(strict=True)
def test_expected_to_fail(): assert False
"""


def outcome(folder: Path, mark: str, *, ci: bool) -> str:
    """Run the tests above and return what pytest printed."""
    (folder / "test_peers.py").write_text(TESTS.format(mark=mark))
    environment = {key: text for key, text in os.environ.items() if key != "CI"}
    pytest_command = [sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "--rootdir", str(folder)]
    done = subprocess.run(
        [*pytest_command, "-p", "tests.required_peers", "-p", "no:cacheprovider", str(folder)],
        cwd=ROOT,
        env={**environment, **({"CI": "true"} if ci else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize("mark", REQUIRED_MARKS)
def test_skip_for_want_of_a_peer_fails_in_ci(tmp_path: Path, mark: str) -> None:
    said = outcome(tmp_path, mark, ci=True)
    assert "a skip is a failure in CI: Skipped: the peer is not there" in said
    assert "1 skipped, 1 xfailed, 1 error" in said


def test_skip_for_want_of_a_peer_stays_a_skip_elsewhere(tmp_path: Path) -> None:
    assert "2 skipped, 1 xfailed" in outcome(tmp_path, REQUIRED_MARKS[0], ci=False)
