"""Measures the exporter's budgets; run as `make bench` or `python -m tests.bench [--quick]`.

Everything is a ratio of two costs that were measured in turn in this run. The times beside them are this machine's.
Exits with 1 when a budget is missed.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.bench import endurance, logs, side_by_side, translation, whole
from tests.bench.figures import Section
from tests.bench.processes import OTHER_CPUS
from tests.fake_nvml.build import compiler


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is measured."""

    rounds: int
    windows: int
    scrapes: int


WHOLE = Extent(rounds=100, windows=6, scrapes=10_000)
QUICK = Extent(rounds=30, windows=2, scrapes=1_000)


def sections(folder: Path, extent: Extent) -> Iterator[Callable[[], Section]]:
    """Yield what is measured, in order."""
    yield lambda: translation.section(extent.rounds)
    yield lambda: logs.section(max(extent.rounds // 10, 3))
    yield lambda: whole.section(folder, extent.rounds)
    yield lambda: side_by_side.section(folder, extent.windows)
    yield lambda: whole.slow_section(folder, extent.rounds // 5)
    yield lambda: endurance.fleet_section(folder, extent.rounds // 5)
    yield lambda: endurance.memory_section(folder, extent.scrapes)


def main() -> int:
    """Measure, report, and return the exit status."""
    options = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    options.add_argument("--quick", action="store_true", help="a tenth of it, for a first look")
    extent = QUICK if options.parse_args().quick else WHOLE
    if compiler() is None:
        print("The stand-in NVML needs a C compiler (install gcc).", file=sys.stderr)
        return 2
    os.sched_setaffinity(0, OTHER_CPUS)
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="vllmwatch-bench-") as folder:
        for measure in sections(Path(folder), extent):
            section = measure()
            print(section.text(), end="\n\n", flush=True)
            missed += [figure.what for figure in section.figures if figure.missed]
    print("Budgets missed: " + "; ".join(missed) if missed else "All budgets are kept.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
