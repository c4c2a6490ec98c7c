"""The latency figures of a server and of a model: what is slower than its objective, and quantiles; pure."""

import math
from collections.abc import Iterable, Mapping, Sequence

from vllmwatch.catalog.latencies import LATENCIES, Latency
from vllmwatch.catalog.objectives import Objective
from vllmwatch.exporter.figures.engine import EngineView, Figures, put, share
from vllmwatch.exporter.figures.quantile import histogram_quantile

WINDOWS: Mapping[str, float] = {"5m": 300.0, "10m": 600.0, "30m": 1800.0, "1h": 3600.0}
"""Those of the recordings as far as the history goes."""
_QUANTILES = (0.5, 0.9, 0.99)
_RATE_SECONDS = 300.0

Buckets = dict[float, float]
"""Observations a second at or below each upper edge."""


def server_latencies(
    engines: Sequence[EngineView], objectives: Sequence[Objective]
) -> tuple[Figures, dict[str, Buckets]]:
    """Return the latency figures of a server's engines together, and their histograms by the word of the latency."""
    figures: Figures = {}
    for objective in objectives:
        for window, seconds in _windows(objective):
            _put_slow(figures, objective, window, [_counts(view, objective, seconds) for view in engines])
    histograms = {}
    for latency in LATENCIES:
        buckets = _buckets(engines, latency)
        if buckets:
            histograms[latency.word] = buckets
            put_quantiles(figures, latency.word, buckets)
    return figures, histograms


def model_latencies(
    servers: Sequence[Figures], histograms: Sequence[Mapping[str, Buckets]], objectives: Sequence[Objective]
) -> Figures:
    """Return the latency figures of a model from those of its servers; quantiles where all have the same edges."""
    figures: Figures = {}
    for objective in objectives:
        word = objective.latency.word
        for window, _ in _windows(objective):
            counts = [
                (server.get(f"{word}_observed:increase{window}"), server.get(f"{word}_slow:increase{window}"))
                for server in servers
            ]
            _put_slow(figures, objective, window, counts)
    for latency in LATENCIES:
        of_servers = [each[latency.word] for each in histograms if latency.word in each]
        if of_servers and all(each.keys() == of_servers[0].keys() for each in of_servers):
            put_quantiles(figures, latency.word, _together(of_servers))
    return figures


def put_quantiles(figures: Figures, word: str, buckets: Buckets) -> None:
    """Add the quantiles of which there are observations enough to speak: one in the part that a quantile cuts off."""
    observed = round(buckets.get(math.inf, 0.0) * _RATE_SECONDS)
    for quantile in _QUANTILES:
        if observed >= round(1 / (1 - quantile)):
            put(figures, f"{word}_seconds:p{round(quantile * 100)}_5m", histogram_quantile(quantile, buckets))


def _windows(objective: Objective) -> Iterable[tuple[str, float]]:
    return ((window, seconds) for window, seconds in WINDOWS.items() if window in objective.windows)


def _counts(view: EngineView, objective: Objective, seconds: float) -> tuple[float | None, float | None]:
    """Return what was observed and what was slow; None for an engine without the objective's edge."""
    metric = objective.latency.metric
    every = view.increase(f"{metric}_count", seconds)
    within = view.increase(f"{metric}_bucket", seconds, objective.edge_of(view.model_name))
    if every is None or within is None:
        return None, None
    return every, max(every - within, 0.0)


def _put_slow(figures: Figures, objective: Objective, window: str, counts: Iterable[tuple[object, object]]) -> None:
    found = [
        (every, slow) for every, slow in counts if isinstance(every, float | int) and isinstance(slow, float | int)
    ]
    if not found:
        return
    word = objective.latency.word
    observed, slow = (float(sum(each)) for each in zip(*found, strict=True))
    figures[f"{word}_observed:increase{window}"] = observed
    figures[f"{word}_slow:increase{window}"] = slow
    put(figures, f"{word}_slow:ratio_increase{window}", share(slow, observed))


def _buckets(engines: Sequence[EngineView], latency: Latency) -> Buckets:
    name = f"{latency.metric}_bucket"
    each = [
        {float(edge): rate for (edge,) in view.extras(name) if (rate := view.rate(name, edge)) is not None}
        for view in engines
    ]
    return _together(each)


def _together(histograms: Iterable[Mapping[float, float]]) -> Buckets:
    found: Buckets = {}
    for histogram in histograms:
        for edge, rate in histogram.items():
            found[edge] = found.get(edge, 0.0) + rate
    return found
