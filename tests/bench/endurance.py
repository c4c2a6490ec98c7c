"""Memory over many scrapes, and many targets in one process."""

from pathlib import Path
from statistics import median

from tests.bench.figures import Figure, Section, milliseconds
from tests.bench.processes import resident_bytes
from tests.bench.scrape import exporter, page_server
from tests.bench.whole import SERVERS

MEBIBYTE = 1 << 20
MOST_BYTES = 80 * MEBIBYTE
# An allocator's pools settle over the first scrapes; beyond that, growth by a tenth would be a leak.
MOST_GROWTH = 1.1
SETTLED_SCRAPES = 100
MANY_TARGETS = 256
INTERVAL_SECONDS = 15.0


def resident_over(folder: Path, scrapes: int) -> list[int]:
    """Return resident memory in bytes after the start, after 100 scrapes, and after all of them."""
    found = []
    with page_server(folder, SERVERS) as urls, exporter(folder, urls) as ours:
        found.append(resident_bytes(ours.pid))
        for number in range(1, scrapes + 1):
            ours.scrape(gzip=number % 2 == 0, settle_seconds=0)
            if number in {SETTLED_SCRAPES, scrapes}:
                found.append(resident_bytes(ours.pid))
    return found


def memory_section(folder: Path, scrapes: int) -> Section:
    """Return how much memory is resident, and whether it grows."""
    start, settled, end = resident_over(folder, scrapes)
    shown = f"{start / MEBIBYTE:.1f} MiB after the start, {settled / MEBIBYTE:.1f} after {SETTLED_SCRAPES} scrapes"
    shown = f"{shown}, {end / MEBIBYTE:.1f} after {scrapes}"
    figures = (
        Figure("most resident memory / 80 MiB", max(start, settled, end) / MOST_BYTES, shown, most=1.0, budget=True),
        Figure(f"after {scrapes} scrapes / after {SETTLED_SCRAPES}", end / settled, "", most=MOST_GROWTH, budget=True),
    )
    return Section("Memory with 8 GPUs and 8 pages", figures)


def fleet_section(folder: Path, rounds: int) -> Section:
    """Return what 256 targets in one process take."""
    with page_server(folder, MANY_TARGETS) as urls, exporter(folder, urls) as ours:
        costs = [ours.scrape(settle_seconds=0.05) for _ in range(rounds + 2)][2:]
        resident = resident_bytes(ours.pid)
    wall, cpu = median(cost.wall_seconds for cost in costs), median(cost.cpu_seconds for cost in costs)
    figures = (
        Figure("wall time / 15 s", wall / INTERVAL_SECONDS, milliseconds(wall), most=1.0, budget=True),
        Figure("processor time / 15 s", cpu / INTERVAL_SECONDS, milliseconds(cpu)),
    )
    note = f"page {len(costs[0].page) / 1e6:.1f} MB, {resident / MEBIBYTE:.0f} MiB resident"
    return Section(f"{MANY_TARGETS} targets in one process", figures, (note,))
