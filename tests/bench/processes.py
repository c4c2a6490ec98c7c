"""Child processes on a processor of their own, and what they use."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tests.real.places import ROOT

_STOP_SECONDS = 10.0
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ALLOWED = sorted(os.sched_getaffinity(0))
MEASURED_CPU = {_ALLOWED[0]}
"""Where whatever is measured runs."""
OTHER_CPUS = set(_ALLOWED[1:]) or MEASURED_CPU
"""Where everything else runs: the servers that are scraped, and this process."""


def cpu_seconds(pid: int) -> float:
    """Return the processor time of a process so far, user and system, all threads, to the nanosecond.

    The clock's number is that of clock_getcpuclockid(3): ~pid << 3 | CPUCLOCK_SCHED (linux/posix-timers.h).
    """
    return time.clock_gettime((~pid << 3) | 2)


def resident_bytes(pid: int) -> int:
    """Return the memory of a process that is in RAM."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES


@contextlib.contextmanager
def started(
    command: Sequence[str],
    log: Path,
    *,
    cpus: set[int],
    environment: Mapping[str, str] | None = None,
    answers: bool = False,
) -> Iterator[subprocess.Popen[str]]:
    """Run a program until the block ends; its output goes to `log`, or to the pipe where it `answers` over one."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            env={**(os.environ if environment is None else environment), "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE if answers else subprocess.DEVNULL,
            stdout=subprocess.PIPE if answers else out,
            stderr=out,
            text=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),  # noqa: PLW1509  no thread runs yet
        )
    try:
        yield process
    finally:
        _stop(process)


def python(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this checkout."""
    return [sys.executable, "-m", module, *arguments]


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
