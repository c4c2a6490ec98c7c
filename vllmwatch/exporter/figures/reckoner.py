"""All figures of the fleet, from what the exporter saw within the last hour."""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from vllmwatch.catalog.cards import card_of
from vllmwatch.catalog.objectives import OBJECTIVES, Objective
from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.figures import layout
from vllmwatch.exporter.figures.engine import EngineView, Figures, combined, engine_figures, put
from vllmwatch.exporter.figures.gpus import GpuView, Shares, shares_of, stragglers
from vllmwatch.exporter.figures.history import History
from vllmwatch.exporter.figures.latency import Buckets, model_latencies, server_latencies
from vllmwatch.exporter.figures.model import model_figures
from vllmwatch.exporter.figures.server import (
    Prices,
    ServerView,
    Spending,
    momentary_figures,
    number,
    put_spendings,
    roll_up,
    spendings,
    windowed_figures,
)
from vllmwatch.exporter.watch import TargetSample

_card = cache(card_of)
# As many as may end while figures are reckoned, which takes seconds of many servers.
_MOST_WAITING = 32


@dataclass(frozen=True, slots=True)
class FleetFigures:
    """Figures by whose they are; each has the name of its recording without prefix and level."""

    engines: Mapping[tuple[str, str, str], Figures] = field(default_factory=dict)
    """By server, engine and model, since pages of Ray may have several models, each with an engine 0."""
    servers: Mapping[str, Figures] = field(default_factory=dict)
    models: Mapping[str, Figures] = field(default_factory=dict)
    gpus: Mapping[str, Figures] = field(default_factory=dict)
    """By UUID."""
    engine_gpus: Mapping[tuple[str, str, str], Mapping[str, float]] = field(default_factory=dict)
    """By server, engine and UUID."""


class Reckoner:
    """Observes collections, and reckons figures of them when asked. For use by several threads."""

    def __init__(self) -> None:
        self._settings: tuple[float, Prices, tuple[Objective, ...]] = (0.0, Prices(None, None), OBJECTIVES)
        self._lock = threading.Lock()
        self._waiting: deque[Collection] = deque(maxlen=_MOST_WAITING)
        self._prices = Prices(None, None)
        self._history = History()
        self._last: Collection | None = None
        self._figures: FleetFigures | None = None

    def configure(
        self, interval_seconds: float, prices: Prices, objectives: tuple[Objective, ...] = OBJECTIVES
    ) -> None:
        """Take over settings, at the start and when they change."""
        self._settings = (interval_seconds, prices, objectives)

    def observe(self, collection: Collection) -> None:
        """Take over what a collection found, unless the last one is nearer than the interval.

        Waits for no figures that are being reckoned: a scrape must not be late because somebody asks for the fleet.
        """
        self._waiting.append(collection)
        if self._lock.acquire(blocking=False):
            try:
                self._take_over()
            finally:
                self._lock.release()

    def figures(self) -> FleetFigures:
        """Return all figures as of the newest moment; none before the first."""
        with self._lock:
            self._take_over()
            if self._figures is None and self._last is not None:
                self._figures = self._reckon(self._last)
            return self._figures or FleetFigures()

    def _take_over(self) -> None:
        self._history.interval_seconds, self._prices, self._history.objectives = self._settings
        while self._waiting:
            self._add(self._waiting.popleft())

    def _add(self, collection: Collection) -> None:
        if not self._history.observe(collection):
            return
        self._last, self._figures = collection, None
        shares, gpus = self._gpus(collection)
        for sample in collection.targets:
            if serves_a_model(sample):
                view = self._server_view(sample, shares)
                parts = [_in_brief(engine) for engine in view.engines]
                figures = momentary_figures(view, roll_up(parts, engines=True), gpus, self._prices)
                plain = {name: value for name, value in figures.items() if isinstance(value, float | int)}
                self._history.add_figures(sample.target.server, plain)

    def _reckon(self, collection: Collection) -> FleetFigures:
        shares, gpus = self._gpus(collection)
        peaks = _peaks(collection)
        engines: dict[tuple[str, str, str], Figures] = {}
        servers: dict[str, Figures] = {}
        histograms: dict[str, Mapping[str, Buckets]] = {}
        spent: dict[str, Mapping[str, Spending]] = {}
        for sample in collection.targets:
            server = sample.target.server
            view = self._server_view(sample, shares)
            sizes = {size.engine: size for size in sample.page.plan.facts.kv_cache_sizes} if sample.page else {}
            parts = []
            for engine in view.engines:
                own = engine_figures(engine, sizes.get(engine.engine), peaks.get((server, engine.engine), {}))
                parts.append(own)
                engines[server, engine.engine, engine.model_name] = own
            figures = roll_up(parts, engines=True)
            _put_first_exhaustion(figures, parts)
            latencies, histograms[server] = server_latencies(view.engines, self._history.objectives)
            figures |= latencies
            if serves_a_model(sample):
                figures |= momentary_figures(view, figures, gpus, self._prices)
                figures |= windowed_figures(view, sample.facts.model_name)
                spent[server] = spendings(view, figures)
                put_spendings(figures, [spent[server]])
            servers[server] = figures
        return FleetFigures(
            engines,
            servers,
            self._models(collection, servers, histograms, spent),
            _gpu_figures(collection, gpus, shares),
            _straggler_figures(collection, gpus, engines),
        )

    def _models(
        self,
        collection: Collection,
        servers: Mapping[str, Figures],
        histograms: Mapping[str, Mapping[str, Buckets]],
        spent: Mapping[str, Mapping[str, Spending]],
    ) -> dict[str, Figures]:
        by_model: dict[str, list[TargetSample]] = {}
        for sample in collection.targets:
            if serves_a_model(sample):
                by_model.setdefault(sample.facts.model_name, []).append(sample)
        found = {}
        for model_name, samples in by_model.items():
            names = [sample.target.server for sample in samples]
            of_servers = [servers[name] for name in names]
            layouts = [self._history.targets[sample.target.server].layout for sample in samples if sample.up]
            found[model_name] = model_figures(of_servers, samples, layouts)
            put_spendings(found[model_name], [spent[name] for name in names])
            found[model_name] |= model_latencies(
                of_servers, [histograms[name] for name in names], self._history.objectives
            )
        return found

    def _gpus(self, collection: Collection) -> tuple[Shares, GpuView]:
        end = self._history.at if self._history.at is not None else 0.0
        return shares_of(collection.joined.links), GpuView(self._history.gpus, end)

    def _server_view(self, sample: TargetSample, shares: Shares) -> ServerView:
        server = sample.target.server
        history = self._history.targets[server]
        end = self._history.at if self._history.at is not None else 0.0
        pairs = history.layout.engines() if sample.up else ()
        engines = [EngineView(history, engine, model_name, end) for engine, model_name in pairs]
        return ServerView(history, self._history.servers[server], engines, shares.by_server.get(server, {}), end)


def serves_a_model(sample: TargetSample) -> bool:
    """Whether a target is a vLLM server of which is known what it serves, be it up or not."""
    return sample.facts.role == "server" and bool(sample.facts.model_name)


def _in_brief(view: EngineView) -> Figures:
    """Return the figures of an engine that are needed at every moment."""
    figures: Figures = {}
    prompt, generation = view.rate(layout.PROMPT_TOKENS), view.rate(layout.GENERATION_TOKENS)
    put(figures, "requests_running:max", view.now(layout.RUNNING))
    put(figures, "generation_tokens:rate5m", generation)
    put(figures, "tokens:rate5m", combined(float.__add__, prompt, generation))
    return figures


def _put_first_exhaustion(figures: Figures, engines: Iterable[Figures]) -> None:
    name = "kv_cache_exhaustion_seconds:slope10m"
    known = [value for engine in engines if (value := number(engine, name)) is not None]
    if known:
        figures[name] = min(known)


def _peaks(collection: Collection) -> dict[tuple[str, str], dict[str, float]]:
    """Return what the slowest card of each engine can do at most, where all of its GPUs are whole."""
    names = {gpu.identity.uuid: gpu.identity.name or "" for gpu in collection.gpus.gpus} if collection.gpus else {}
    found: dict[tuple[str, str], dict[str, float]] = {}
    for link in collection.joined.links:
        card = None if link.device.parent_uuid else _card(names.get(link.device.uuid, ""))
        if card is not None:
            least = found.setdefault((link.server, link.engine), {})
            for what, peak in {**card.peak_flops, "bytes": card.memory_bandwidth}.items():
                least[what] = min(peak, least.get(what, peak))
    return found


def _gpu_figures(collection: Collection, view: GpuView, shares: Shares) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for gpu in collection.gpus.gpus if collection.gpus else ():
        figures: Figures = {}
        put(figures, "power_watts:avg1m", view.power_watts(gpu.identity.uuid))
        put(figures, "servers:count", shares.servers_of_gpu.get(gpu.identity.uuid))
        found[gpu.identity.uuid] = figures
    return found


def _straggler_figures(
    collection: Collection, view: GpuView, engines: Mapping[tuple[str, str, str], Figures]
) -> dict[tuple[str, str, str], Mapping[str, float]]:
    groups: dict[tuple[str, str], list[str]] = {}
    for link in collection.joined.links:
        uuids = groups.setdefault((link.server, link.engine), [])
        if link.device.gpu_uuid not in uuids:
            uuids.append(link.device.gpu_uuid)
    running = {
        (server, engine)
        for (server, engine, _), figures in engines.items()
        if (number(figures, "requests_running:max") or 0) > 0
    }
    found: dict[tuple[str, str, str], Mapping[str, float]] = {}
    for who, uuids in groups.items():
        for uuid, figures in stragglers(view, uuids, runs=who in running).items():
            found[*who, uuid] = figures
    return found
