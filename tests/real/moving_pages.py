"""Recorded metrics pages that move: a stand-in for a vLLM server whose counters grow with time, as a busy one's do."""

import math
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.servers import Handler, response

_TYPE = re.compile(r"# TYPE (\S+) (\S+)")
_SAMPLE = re.compile(r"(?P<series>(?P<name>[a-zA-Z_:][\w:]*)(?P<labels>\{.*\})?) (?P<value>\S+)")
_EDGE = re.compile(r'le="[^"]*",?')
_SUFFIXES = ("_bucket", "_count", "_sum", "_total")
_GROWING = {"counter", "histogram", "summary"}
START = "process_start_time_seconds"


@dataclass(slots=True)
class _Sample:
    """A sample of the page: its value is `base + per_second * seconds`, whole where `whole` says so."""

    series: str
    name: str
    labels: str
    base: float
    kind: str
    per_second: float = 0.0

    def at(self, seconds: float) -> float:
        value = self.base + self.per_second * seconds
        whole = self.base.is_integer() and not self.name.endswith("_sum")
        return float(math.floor(value)) if whole else value

    def is_meant(self, selector: str) -> bool:
        """Tell whether a selector, a name with some of the labels, means this sample."""
        name, _, labels = selector.partition("{")
        return self.name == name and all(label in self.labels for label in labels.rstrip("}").split(",") if label)


class MovingPage:
    """A recorded page (text format 0.0.4) whose counters and histograms grow by `share` of their value each second.

    All parts of a histogram grow alike, so that it stays one. `gauges` sets samples by their selectors, a name with
    some labels; `steps` lets samples grow by so much a second instead, gauges too. With `fill`, counters and histograms
    that stand at 0 grow as well, by so much a second. `clock` is monotonic, in seconds.
    """

    def __init__(
        self,
        text: str,
        *,
        share: float = 0.2,
        gauges: Mapping[str, float] | None = None,
        steps: Mapping[str, float] | None = None,
        fill: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock = clock
        self._begun = clock()
        self._lines = list(_read(text))
        self._samples = [line for line in self._lines if isinstance(line, _Sample)]
        for sample in self._samples:
            if sample.kind in _GROWING:
                sample.per_second = sample.base * share
        if fill:
            self._fill(fill)
        for selector, value in (gauges or {}).items():
            for sample in self._meant(selector):
                sample.base = float(value)
        for selector, per_second in (steps or {}).items():
            for sample in self._meant(selector):
                sample.per_second = float(per_second)

    def text(self) -> str:
        """Return the page of this moment."""
        seconds = self._clock() - self._begun
        return "".join(
            f"{line.series} {line.at(seconds)!r}\n" if isinstance(line, _Sample) else line for line in self._lines
        )

    def restart(self) -> None:
        """Begin anew, as a server does that was started again: counters fall back, and its start is later."""
        seconds = self._clock() - self._begun
        self._begun = self._clock()
        for sample in self._meant(START):
            sample.base += seconds

    def _meant(self, selector: str) -> list[_Sample]:
        found = [sample for sample in self._samples if sample.is_meant(selector)]
        assert found, f"the page has no {selector}"
        return found

    def _fill(self, per_second: float) -> None:
        """Let what stands at 0 grow; the buckets of a histogram get even shares."""
        edges: dict[str, list[_Sample]] = {}
        full: set[str] = set()
        for sample in self._samples:
            if sample.kind == "histogram" and sample.name.endswith("_bucket"):
                key = _EDGE.sub("", sample.series)
                edges.setdefault(key, []).append(sample)
                if sample.base:
                    full.add(key)
            elif sample.kind in _GROWING and not sample.base:
                sample.per_second = float(per_second)
        for key, buckets in edges.items():
            for place, bucket in enumerate(buckets if key not in full else (), 1):
                bucket.per_second = per_second * place / len(buckets)


def moving(page: MovingPage, version: str) -> Handler:
    """Return a handler that answers like a vLLM server of a version: its page, its version, and 404 for the rest."""

    def handle(connection: socket.socket, request: bytes) -> None:
        path = request.split(b" ", 2)[1].partition(b"?")[0]
        if path.rstrip(b"/").endswith(b"/metrics"):
            connection.sendall(response(page.text().encode()))
        elif path.endswith(b"/version"):
            connection.sendall(response(f'{{"version":"{version}"}}'.encode(), content_type="application/json"))
        else:
            connection.sendall(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")

    return handle


def _read(text: str) -> Iterator[_Sample | str]:
    kinds: dict[str, str] = {}
    for line in text.splitlines(keepends=True):
        if told := _TYPE.match(line):
            kinds[told[1]] = told[2]
        found = _SAMPLE.fullmatch(line.rstrip("\n"))
        if found is None or line.startswith("#"):
            yield line
            continue
        name = found["name"]
        names = (name, *(name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)))
        kind = next((kinds[each] for each in names if each in kinds), "untyped")
        yield _Sample(found["series"], name, found["labels"] or "", float(found["value"]), kind)
