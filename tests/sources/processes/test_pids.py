"""Which of the driver's process numbers are believed: real processes, real PID namespaces, and a file for a device."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real.places import ROOT
from vllmwatch.sources.processes.pids import PidResolver
from vllmwatch.sources.processes.table import created

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="another PID namespace needs root")
HOLD = "import sys; kept = open(sys.argv[1]); print('up', flush=True); input()"
IN_HOSTS_NAMESPACE = str(Path("/proc/self/ns/pid").readlink()) == "pid:[4026531836]"


@pytest.fixture
def device(tmp_path: Path) -> Path:
    """Return a file that stands for a GPU's device."""
    path = tmp_path / "nvidia0"
    path.touch()
    return path


@pytest.fixture
def resolver(tmp_path: Path, device: Path) -> PidResolver:
    return PidResolver(OnHost(tmp_path).proc, devices=(str(device),))


class OnHost:
    """A proc file system that says that we are in the host's PID namespace, whatever runs these tests."""

    def __init__(self, folder: Path) -> None:
        self.proc = folder / "proc"
        self.proc.mkdir(exist_ok=True)
        (self.proc / "self" / "ns").mkdir(parents=True, exist_ok=True)
        (self.proc / "self" / "ns" / "pid").symlink_to("pid:[4026531836]")


@contextlib.contextmanager
def holding(file: Path) -> Iterator[int]:
    """Run a process that holds a file open."""
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        with contextlib.suppress(FileExistsError):
            if (proc := file.parent / "proc").exists():
                (proc / str(child.pid)).symlink_to(f"/proc/{child.pid}")
        yield child.pid
    finally:
        child.kill()
        child.communicate()


def test_on_the_host_a_number_is_the_process_of_that_number(resolver: PidResolver, device: Path) -> None:
    with holding(device) as pid:
        found = resolver.resolve(frozenset([pid]), {})
        assert (found.here, found.dead, found.own_namespace) == ({pid: created(pid)}, frozenset(), False)
    gone = resolver.resolve(frozenset([pid]), {})
    assert (dict(gone.here), set(gone.dead)) == ({}, {pid})


def test_a_number_that_went_to_a_process_without_a_gpu_is_that_of_the_dead(
    resolver: PidResolver, device: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.touch()
    with holding(other) as pid:
        assert resolver.resolve(frozenset([pid]), {}).dead == {pid}
        before = created(pid)
        assert before is not None
        assert resolver.resolve(frozenset([pid]), {pid: before - 1}).dead == {pid}, "known, and another process now"


def test_a_process_that_ended_and_was_not_asked_how_is_dead(resolver: PidResolver, device: Path) -> None:
    with holding(device) as pid:
        known = created(pid)
        assert known is not None
        os.kill(pid, 9)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        found = resolver.resolve(frozenset([pid]), {pid: known})
        assert (dict(found.here), set(found.dead)) == ({}, {pid})


def test_a_number_that_went_to_a_process_with_a_gpu_is_that_process(resolver: PidResolver, device: Path) -> None:
    with holding(device) as pid:
        found = resolver.resolve(frozenset([pid]), {pid: 1.0})
        assert found.here == {pid: created(pid)}


def test_a_process_of_vllms_is_taken_for_a_user_without_a_look(resolver: PidResolver, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.touch()
    with holding(other) as pid:
        known = created(pid)
        assert known is not None
        assert resolver.resolve(frozenset([pid]), {pid: known}).here == {pid: known}


def test_a_process_that_the_system_hides_is_neither_here_nor_dead(resolver: PidResolver) -> None:
    """It exists, as a signal tells, and has no folder."""
    found = resolver.resolve(frozenset([os.getppid()]), {})
    assert (found.here, found.dead) == ({}, frozenset())


def test_a_number_beyond_all_pids_is_dead_and_no_fault(resolver: PidResolver) -> None:
    assert resolver.resolve(frozenset([2**22 + 7]), {}).dead == {2**22 + 7}
    assert resolver.resolve(frozenset([2**32 - 2]), {}).here == {}


# Runs as the first process of a PID namespace of its own: starts processes, resolves numbers, and prints what came.
INSIDE = """
import json, os, subprocess, sys
from vllmwatch.sources.processes.pids import PidResolver
device, other = sys.argv[1:3]
hold = "import sys; kept = open(sys.argv[1]); print('up', flush=True); input()"
def start(file, *before):
    child = subprocess.Popen([*before, sys.executable, "-c", hold, file], stdin=-1, stdout=-1)
    child.stdout.readline()
    return child
user, stranger = start(device), start(other)
nested = start(device, "unshare", "--pid", "--fork", "--kill-child")
outer = max(int(name) for name in os.listdir("/proc") if name.isdecimal())
inner = int(open(f"/proc/{outer}/status").read().partition("NSpid:")[2].split()[1])
own = open(device)
resolver = PidResolver(devices=(device,))
def told(*numbers):
    found = resolver.resolve(frozenset(numbers), {stranger.pid: 0.0})
    return [sorted(found.here), sorted(found.dead), found.own_namespace]
print(json.dumps({
    "user": user.pid, "stranger": stranger.pid, "nested": [inner, outer],
    "one": told(user.pid), "both": told(user.pid, stranger.pid), "stranger alone": told(stranger.pid),
    "foreign": told(user.pid, 3999999), "own": told(os.getpid()), "none": told(),
    "by inner": told(inner), "by outer": told(outer),
}))
for child in (user, stranger, nested):
    child.kill()
    child.communicate()
"""


@pytest.fixture
def inside(device: Path, tmp_path: Path) -> dict[str, Any]:
    other = tmp_path / "other"
    other.touch()
    ran = subprocess.run(
        [
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *(sys.executable, "-c", INSIDE, str(device), str(other)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert ran.returncode == 0, ran.stderr
    told: dict[str, Any] = json.loads(ran.stdout)
    return told


@needs_root
def test_in_a_namespace_of_our_own_only_numbers_of_gpu_users_are_believed(inside: dict[str, Any]) -> None:
    user = inside["user"]
    assert inside["one"] == [[user], [], True]
    assert inside["stranger alone"] == [[], [], True], "a local process that uses no GPU"
    assert inside["own"] == [[], [], True], "we hold devices to read them"
    assert inside["none"] == [[], [], True]


@needs_root
def test_in_a_namespace_of_our_own_one_number_that_fits_none_discredits_all(inside: dict[str, Any]) -> None:
    assert inside["both"] == [[], [], True]
    assert inside["foreign"] == [[], [], True]


@needs_root
def test_a_number_that_a_process_has_in_a_namespace_below_ours_is_not_believed(inside: dict[str, Any]) -> None:
    """The driver never gives such a number: it would be that of an unrelated process."""
    inner, outer = inside["nested"]
    assert inside["by inner"] == [[], [], True]
    assert inside["by outer"] == [[outer], [], True]
    assert inner != outer


@pytest.mark.skipif(not IN_HOSTS_NAMESPACE, reason="these tests run in a PID namespace of their own")
def test_the_hosts_namespace_is_known_by_its_number() -> None:
    assert PidResolver().resolve(frozenset(), {}).own_namespace is False
