"""What prometheus_client needs for the same pages, in a process of its own.

Run as `python -m tests.bench.parser`: for each line `parse` or `write` it takes the next pages of eight servers, parses
them (and for `write` makes text of them again), and prints the processor time in seconds.
"""

import sys
import time
from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.registry import Collector

from tests.bench.page_server import pages

SERVERS = 8


class _Parsed(Collector):
    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


def parse(texts: Iterable[str]) -> int:
    """Parse pages and return the number of samples."""
    return sum(len(family.samples) for text in texts for family in text_string_to_metric_families(text))


def parse_and_write(texts: Iterable[str]) -> int:
    """Parse pages, write each again, and return the number of bytes."""
    written = 0
    for text in texts:
        registry = CollectorRegistry()
        registry.register(_Parsed(text_string_to_metric_families(text)))
        written += len(generate_latest(registry))
    return written


def _answer(variants: list[str]) -> None:
    for number, line in enumerate(sys.stdin):
        texts = [variants[(number + server) % len(variants)] for server in range(SERVERS)]
        work = {"parse": parse, "write": parse_and_write}[line.strip()]
        begun = time.process_time()
        work(texts)
        print(time.process_time() - begun, flush=True)


if __name__ == "__main__":
    _answer([page.decode() for page in pages()])
