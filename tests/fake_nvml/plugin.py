"""Fixtures that put the stand-in NVML under the real pynvml, in this process or in a child."""

import ctypes
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.fake_nvml.build import SONAME, STATE_VARIABLE, build, compiler
from tests.fake_nvml.state import State

Host = Callable[[Mapping[str, str]], State]


def _require_compiler() -> None:
    if compiler() is not None:
        return
    reason = "no C compiler for the stand-in libnvidia-ml.so.1 (install gcc)"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def fake_nvml_folder() -> Path:
    """Return the folder of the stand-in, for LD_LIBRARY_PATH of a child process."""
    _require_compiler()
    return build()


@pytest.fixture(scope="session")
def old_fake_nvml_folder() -> Path:
    """Return the folder of a stand-in that lacks the functions that drivers of the 470 line lack."""
    _require_compiler()
    return build("-DOLD_DRIVER")


@pytest.fixture(scope="session")
def wide_fake_nvml_folder() -> Path:
    """Return the folder of a stand-in whose entries of processes have the layout of driver 535."""
    _require_compiler()
    return build("-DWIDE_PROCESSES")


@pytest.fixture
def nvml_host(fake_nvml_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Host]:
    """Return a function that makes this process see the host that a preset describes.

    The library is loaded by path first; the loader then gives the same one to pynvml, which asks by soname.
    """
    ctypes.CDLL(str(fake_nvml_folder / SONAME))
    path = tmp_path / "nvml.state"
    monkeypatch.setenv(STATE_VARIABLE, str(path))

    def put(lines: Mapping[str, str]) -> State:
        return State(path, lines)

    yield put
    path.unlink(missing_ok=True)


class Calls:
    """How often the stand-in was called in this process."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def count(self, function: str) -> int:
        """Return the calls of a function (or of a field: `field.82`) since the last `forget`."""
        return int(self._library.fake_call_count(function.encode()))

    def forget(self) -> None:
        """Begin to count anew."""
        self._library.fake_forget_calls()


@pytest.fixture
def nvml_calls(fake_nvml_folder: Path) -> Calls:
    """Return the counter of calls."""
    calls = Calls(ctypes.CDLL(str(fake_nvml_folder / SONAME)))
    calls.forget()
    return calls


def child_environment(folder: Path, state: Path | None) -> dict[str, str]:
    """Return an environment for a child process that finds the stand-in by name."""
    environment = {key: value for key, value in os.environ.items() if key != STATE_VARIABLE}
    environment["LD_LIBRARY_PATH"] = str(folder)
    if state is not None:
        environment[STATE_VARIABLE] = str(state)
    return environment
