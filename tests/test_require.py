"""scripts/require says in plain words what a machine lacks, before anything is set up on it."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "require"


@dataclass(frozen=True)
class Outcome:
    """How a run of the script ended, and what it printed."""

    code: int
    printed: str


def put_python(folder: Path, name: str, version: str, *, venv: bool) -> None:
    """Put a program in place that answers the script's questions as a Python of this version would."""
    numbers = tuple(map(int, version.split(".")))
    path = folder / name
    path.write_text(
        "#!/bin/bash\n"
        'case "$*" in\n'
        f"    -V) echo Python {version} ;;\n"
        f"    *ensurepip*) exit {0 if venv else 1} ;;\n"
        f"    *sys.exit*) exit {int(numbers < (3, 11))} ;;\n"
        f"    *-venv*) echo python{numbers[0]}.{numbers[1]}-venv ;;\n"
        "    *) exit 9 ;;\n"
        "esac\n"
    )
    path.chmod(0o755)


def require(folder: Path, *words: str) -> Outcome:
    """Run the script on a machine that has no package tools, so that it can only say what is missing."""
    for tool in ("bash", "id"):
        found = shutil.which(tool)
        assert found is not None
        (folder / tool).symlink_to(found)
    done = subprocess.run(
        ["bash", SCRIPT, *words], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
    )
    return Outcome(done.returncode, done.stdout + done.stderr)


@pytest.mark.parametrize(
    ("python", "package"), [("python3", "python3-venv"), ("python3.12", "python3.12-venv")], ids=["default", "named"]
)
def test_missing_venv_names_the_package_of_that_python(tmp_path: Path, python: str, package: str) -> None:
    put_python(tmp_path, python, "3.12.1", venv=False)
    outcome = require(tmp_path, python)
    assert outcome.code == 1
    assert outcome.printed.splitlines()[0] == f"Missing system packages: {package}"


def test_old_python_is_refused_before_its_packages_are_asked_for(tmp_path: Path) -> None:
    put_python(tmp_path, "python3", "3.10.4", venv=False)
    outcome = require(tmp_path, "python3")
    assert outcome.code == 1
    assert outcome.printed.splitlines() == [
        "Python 3.11 or newer is needed, and python3 is Python 3.10.4.",
        "Is a newer one installed? Then name it: make up PYTHON=python3.12",
    ]


def test_python_that_is_not_there_is_named(tmp_path: Path) -> None:
    assert require(tmp_path, "python3.99") == Outcome(1, "PYTHON=python3.99: there is no such program.\n")


def test_machine_without_python_lacks_both_packages(tmp_path: Path) -> None:
    outcome = require(tmp_path, "python3", "git")
    assert outcome.printed.splitlines()[0] == "Missing system packages: python3 python3-venv git"


def test_machine_that_has_all_is_told_nothing(tmp_path: Path) -> None:
    put_python(tmp_path, "python3", "3.11.0", venv=True)
    assert require(tmp_path, "python3") == Outcome(0, "")
