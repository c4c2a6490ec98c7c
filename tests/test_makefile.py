"""The Makefile, in a copy of the checkout's outline."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def make(folder: Path, state: str | None) -> None:
    shutil.copy(ROOT / "Makefile", folder)
    for package in ("vllmwatch", "tests"):
        (folder / package).mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in {"VLLMWATCH_STATE", "MAKEFLAGS"}}
    given = {} if state is None else {"VLLMWATCH_STATE": state}
    subprocess.run(["make", "clean"], cwd=folder, env=environment | given, check=True, capture_output=True, timeout=60)


def fill(state: Path, *names: str) -> None:
    for name in names:
        (state / name / "within").mkdir(parents=True)


@pytest.mark.parametrize("state", [None, "", "a place of its own"])
def test_clean_leaves_of_the_state_what_was_collected_alone(tmp_path: Path, state: str | None) -> None:
    folder = tmp_path / "checkout"
    folder.mkdir()
    lies = folder / (state or ".vllmwatch")
    fill(lies, "test", "bench", "lock", "prometheus", "up")
    (lies / "up" / "prometheus.yml").touch()
    make(folder, state)
    assert [path.name for path in lies.iterdir()] == ["up"]
    assert (lies / "up" / "prometheus.yml").exists()


def test_clean_removes_a_state_that_holds_nothing_else(tmp_path: Path) -> None:
    fill(tmp_path / ".vllmwatch", "test", "bench")
    make(tmp_path, None)
    assert not (tmp_path / ".vllmwatch").exists()


def test_clean_without_a_state_is_no_failure(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    make(tmp_path, None)
    assert (tmp_path / "lock").exists()
