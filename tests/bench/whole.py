"""A whole scrape of eight GPUs and eight pages, against prometheus_client on the same pages, in turn."""

import json
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from tests.bench.figures import Figure, Section, compare, milliseconds
from tests.bench.processes import MEASURED_CPU, python, started
from tests.bench.scrape import Cost, Scraper, exporter, nvml_environment, page_server

SERVERS = 8
SLOW_SECONDS = 0.3
_WARM_UP_SCRAPES = 30


class Parser:
    """prometheus_client in a process of its own, on the processor that the exporter has."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def seconds(self, work: str) -> float:
        """Let it `parse`, or parse and `write`, the next eight pages; returns processor seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{work}\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


@contextmanager
def parser(folder: Path) -> Iterator[Parser]:
    """Run prometheus_client."""
    with started(python("tests.bench.parser"), folder / "parser.log", cpus=MEASURED_CPU, answers=True) as process:
        yield Parser(process)


def section(folder: Path, rounds: int) -> Section:
    """Return processor time and wall time of whole scrapes."""
    with page_server(folder, SERVERS) as urls, exporter(folder, urls) as ours, parser(folder) as other:
        for _ in range(_WARM_UP_SCRAPES):
            ours.scrape()
            ours.scrape(gzip=True)
        turns = [
            (ours.scrape(), other.seconds("parse"), ours.scrape(gzip=True), other.seconds("write"))
            for _ in range(rounds)
        ]
        split = _split(folder, urls, rounds)
    plain, parse, zipped, write = ([*each] for each in zip(*turns, strict=True))
    cpu = [cost.cpu_seconds for cost in plain]
    figures = (
        compare("whole scrape / prometheus_client's parser", cpu, parse, most=0.1, budget=True),
        compare("whole scrape, gzip / parser", [cost.cpu_seconds for cost in zipped], parse),
        compare("whole scrape / prometheus_client parsing and writing again", cpu, write),
        compare("whole scrape, gzip / parsing and writing again", [cost.cpu_seconds for cost in zipped], write),
    )
    whole = median(cpu)
    parts = [*split.items(), ("threads and HTTP", whole - sum(split.values()))]
    notes = (
        f"wall time {_median_wall(plain)} plain, {_median_wall(zipped)} gzip",
        f"page {len(plain[0].page) / 1e3:.0f} kB, {len(zipped[0].page) / 1e3:.0f} kB in gzip",
        "split: " + ", ".join(f"{name} {milliseconds(part)} ({part / whole:.0%})" for name, part in parts),
    )
    return Section(f"A scrape of 8 GPUs and {SERVERS} pages, {rounds} rounds in turn", figures, notes)


def slow_section(folder: Path, rounds: int) -> Section:
    """Return what the exporter adds to the slowest target's time."""
    with (
        page_server(folder, SERVERS, slowest_milliseconds=SLOW_SECONDS * 1e3) as urls,
        exporter(folder, urls) as ours,
    ):
        walls = [_scrape_wall(ours) for _ in range(rounds)]
    wall = median(walls)
    detail = f"{milliseconds(wall)} against {milliseconds(SLOW_SECONDS)}"
    figure = Figure("wall time / the slowest target's", wall / SLOW_SECONDS, detail, most=1.1, budget=True)
    return Section("What the exporter adds to a slow target", (figure,))


def _median_wall(costs: Sequence[Cost]) -> str:
    return milliseconds(median(cost.wall_seconds for cost in costs))


def _scrape_wall(scraper: Scraper) -> float:
    return scraper.scrape().wall_seconds


def _split(folder: Path, urls: list[str], rounds: int) -> dict[str, float]:
    done = subprocess.run(
        ["taskset", "--cpu-list", str(min(MEASURED_CPU)), *python("tests.bench.stages", str(rounds), *urls)],
        env=nvml_environment(folder),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    parts: dict[str, float] = json.loads(done.stdout)
    return parts
