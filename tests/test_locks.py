"""The lock files pin what pyproject.toml asks for, with hashes, and name no host."""

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)")

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ASKED = {
    "build": [*PYPROJECT["build-system"]["requires"], *(ROOT / "requirements" / "build.in").read_text().splitlines()],
    "run": PYPROJECT["project"]["dependencies"],
    "test": PYPROJECT["dependency-groups"]["test"],
    "vllm": (ROOT / "requirements" / "vllm.in").read_text().splitlines(),
}


def pins(lock: Path) -> dict[str, list[str]]:
    """Return the pinned versions by name: more than one where they differ by Python or platform."""
    found: dict[str, list[str]] = {}
    for line in lock.read_text().splitlines():
        if pin := PIN.match(line):
            found.setdefault(canonicalize_name(pin["name"]), []).append(pin["version"])
    return found


def test_every_lock_is_asked_for() -> None:
    assert [lock.stem for lock in LOCKS] == sorted(ASKED)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_lock_satisfies_everything_that_is_asked_for(lock: Path) -> None:
    pinned = pins(lock)
    requirements = [Requirement(line) for line in ASKED[lock.stem] if line and not line.startswith("#")]
    assert requirements
    for requirement in requirements:
        versions = pinned.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement} is not locked: make lock"
        assert all(requirement.specifier.contains(version) for version in versions), f"{requirement}: {versions}"


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_every_pin_carries_hashes(lock: Path) -> None:
    blocks = re.split(r"\n(?=[A-Za-z0-9])", lock.read_text())
    blocks = [block for block in blocks if PIN.match(block)]
    assert len(blocks) == sum(len(versions) for versions in pins(lock).values())
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.stem)
def test_lock_names_no_host(lock: Path) -> None:
    assert re.findall(r"\S*://\S*|--(?:extra-)?index-url\S*|--find-links\S*", lock.read_text()) == []


def test_run_and_test_agree_on_what_they_share() -> None:
    run, test = pins(ROOT / "requirements" / "run.txt"), pins(ROOT / "requirements" / "test.txt")
    assert {name: test[name] for name in run} == run


def test_torch_and_its_companions_are_never_installed_from_the_lock() -> None:
    assert {"torch", "torchvision", "torchaudio", "torchcodec"} & set(pins(ROOT / "requirements" / "vllm.txt")) == set()
