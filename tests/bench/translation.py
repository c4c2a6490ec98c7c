"""Our reading, renaming and merging against prometheus_client's parser, in turn, in one process."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tests.bench.figures import Section, compare
from tests.bench.page_server import pages
from tests.bench.parser import SERVERS, parse
from vllmwatch.exporter.collector import naming_of
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.vllm.merge import Merger
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator
from vllmwatch.sources.vllm.fetch import Fetched

MOST = 1 / 20


@dataclass(frozen=True, slots=True)
class Turns:
    """Processor seconds of each turn, and the samples on the pages."""

    ours: list[float]
    parser: list[float]
    samples: int


def take_turns(rounds: int) -> Turns:
    """Let both read the same eight pages in each round, whose values change from round to round."""
    variants = pages()
    texts = [page.decode() for page in variants]
    options = ExporterOptions(node="bench")
    naming = naming_of(options)
    translators = [
        Translator(naming, Identity(f"bench:{server}", "bench"), frozenset(), options.series_limit)
        for server in range(SERVERS)
    ]
    merger = Merger()
    turns = Turns([], [], sum(line[:1] not in {b"#", b""} for line in variants[0].split(b"\n")) * SERVERS)
    for number in range(rounds + 1):
        chosen = [(number + server) % len(variants) for server in range(SERVERS)]
        ours = _seconds(partial(_translate, translators, merger, [variants[one] for one in chosen]))
        parser = _seconds(partial(parse, [texts[one] for one in chosen]))
        if number:  # the first round makes the plans
            turns.ours.append(ours)
            turns.parser.append(parser)
    return turns


def section(rounds: int) -> Section:
    """Return the figure of the report."""
    turns = take_turns(rounds)
    figure = compare(
        "translate and merge / prometheus_client's parser", turns.ours, turns.parser, most=MOST, budget=True
    )
    each = figure.ratio * sum(turns.parser) / len(turns.parser) / turns.samples
    note = f"{turns.samples} samples, {each * 1e6:.2f} µs each in {rounds} rounds on this machine"
    return Section("Cost per upstream sample", (figure,), (note,))


def _translate(translators: list[Translator], merger: Merger, bodies: list[bytes]) -> bytes:
    translated = []
    for translator, body in zip(translators, bodies, strict=True):
        page = translator.translate(Fetched(body, openmetrics=False, complete=True, duration_seconds=0.0, url=""))
        assert isinstance(page, TranslatedPage), page
        translated.append(page)
    return b"".join(merger.merge(translated).chunks)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
