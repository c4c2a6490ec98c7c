"""The figures of one engine; each has the name of its recording without prefix and level (`prompt_tokens:rate5m`)."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from vllmwatch.exporter.figures import layout
from vllmwatch.exporter.figures.history import TargetHistory
from vllmwatch.exporter.figures.layout import Key
from vllmwatch.exporter.figures.window import Window
from vllmwatch.exporter.vllm.cache_size import KvCacheSize

Figures = dict[str, float | dict[str, float]]
"""Figures by name; those by a label of their own, such as a reason, as a mapping of its values."""

_RATE_SECONDS = 300.0
_ABORT_SECONDS = 900.0
_TREND_SECONDS = 600.0
_STUCK_SECONDS = 120.0
_FULL_ENOUGH = 0.5


@dataclass(frozen=True, slots=True)
class EngineView:
    """One engine of a target's history, up to `end` (Unix time in seconds)."""

    history: TargetHistory
    engine: str
    model_name: str
    end: float

    def window(self, metric: str, seconds: float, *extra: str) -> Window:
        """Return a window of one of the engine's series."""
        return self.history.window(Key(metric, self.engine, self.model_name, extra), seconds, self.end)

    def now(self, metric: str, *extra: str, ago_seconds: float = 0.0) -> float | None:
        """Return the present value of one of the engine's series, or that of some time ago."""
        return self.history.value(Key(metric, self.engine, self.model_name, extra), self.end, ago_seconds)

    def rate(self, metric: str, *extra: str) -> float | None:
        """Return a counter's rate over five minutes."""
        return self.window(metric, _RATE_SECONDS, *extra).rate()

    def increase(self, metric: str, seconds: float, *extra: str) -> float | None:
        """Return a counter's increase."""
        return self.window(metric, seconds, *extra).increase()

    def extras(self, metric: str) -> Sequence[tuple[str, ...]]:
        """Return the other labels of a metric's series."""
        return self.history.layout.extras(metric, self.engine, self.model_name)


def engine_figures(view: EngineView, kv_cache_size: KvCacheSize | None, peaks: Mapping[str, float]) -> Figures:
    """Return all figures of an engine.

    `peaks` are what its slowest card can do at most: floating-point operations a second by data type, and bytes a
    second under `bytes`.
    """
    figures: Figures = {}
    for name, value in _traffic(view).items():
        put(figures, name, value)
    finished = {
        extra[0]: rate
        for extra in view.extras(layout.FINISHED)
        if (rate := view.rate(layout.FINISHED, *extra)) is not None
    }
    if finished:
        figures["requests_finished:rate5m"] = finished
    put(figures, "requests_failed:ratio_rate5m", share(finished.get("error"), sum(finished.values())))
    for name, value in _saturation(view).items():
        put(figures, name, value)
    usage = view.now(layout.KV_USAGE)
    if kv_cache_size is not None and usage is not None:
        figures["kv_cache_headroom_tokens:now"] = {kv_cache_size.basis: kv_cache_size.tokens * (1 - usage)}
    _put_utilization(figures, view, peaks)
    put(figures, "requests_stuck:min2m", _stuck_requests(view))
    put(figures, "requests_stalled:min2m", _stalled_requests(view))
    return figures


def put(figures: Figures, name: str, value: float | None) -> None:
    """Add a figure where there is one, which very small divisors may leave without bounds."""
    if value is not None and math.isfinite(value):
        figures[name] = float(value)


def share(part: float | None, whole: float | None) -> float | None:
    """Return the share of a part in a whole; None where the whole is 0 or either is not known."""
    return part / whole if part is not None and whole is not None and whole > 0 else None


def combined(operation: Callable[[float, float], float], first: float | None, second: float | None) -> float | None:
    """Return what an operation makes of two values; None where either is not known."""
    return None if first is None or second is None else operation(first, second)


def _traffic(view: EngineView) -> dict[str, float | None]:
    prompt, generation = view.rate(layout.PROMPT_TOKENS), view.rate(layout.GENERATION_TOKENS)
    computed = view.rate(layout.TOKENS_BY_SOURCE, "local_compute")
    hits, cached = view.rate(layout.PREFIX_HITS), view.rate(layout.CACHED_TOKENS)
    if computed is None:
        computed = combined(lambda all_tokens, found: max(all_tokens - found, 0.0), prompt, hits)
    cacheable = prompt if prompt is not None and cached is not None else view.rate(layout.PREFIX_QUERIES)
    cached = cached if cached is not None else hits
    return {
        "requests_with_first_token:rate5m": view.rate(layout.FIRST_TOKENS),
        "prompt_tokens:rate5m": prompt,
        "generation_tokens:rate5m": generation,
        "tokens:rate5m": combined(float.__add__, prompt, generation),
        "computed_prompt_tokens:rate5m": computed,
        "cached_prompt_tokens:rate5m": cached,
        "cacheable_prompt_tokens:rate5m": cacheable,
        "cached_prompt_tokens:ratio_rate5m": share(cached, cacheable),
        "requests_failed:rate5m": view.rate(layout.FINISHED, "error"),
        "requests_aborted_estimate:increase15m": _aborted(view),
    }


def _aborted(view: EngineView) -> float | None:
    """Return requests with a first token that neither ended nor run, and those counted as aborted."""
    first = view.increase(layout.FIRST_TOKENS, _ABORT_SECONDS)
    running = view.window(layout.RUNNING, _ABORT_SECONDS).delta()
    if first is None or running is None or not (view.now(layout.FIRST_TOKENS) or 0) > 0:
        return None
    finished = [view.increase(layout.FINISHED, _ABORT_SECONDS, *extra) for extra in view.extras(layout.FINISHED)]
    counted = view.increase(layout.FINISHED, _ABORT_SECONDS, "abort") or 0.0
    return max(first - sum(each for each in finished if each is not None) - running, 0.0) + counted


def _saturation(view: EngineView) -> dict[str, float | None]:
    usage = view.now(layout.KV_USAGE)
    slope = view.window(layout.KV_USAGE, _TREND_SECONDS).slope()
    fills = usage is not None and usage > _FULL_ENOUGH and slope is not None and slope > 0
    return {
        "kv_cache_usage_ratio:max": usage,
        "kv_cache_exhaustion_seconds:slope10m": combined(lambda used, rise: (1 - used) / rise, usage, slope)
        if fills
        else None,
        "requests_running:max": view.now(layout.RUNNING),
        "requests_waiting:max": view.now(layout.WAITING),
        "requests_waiting:slope10m": view.window(layout.WAITING, _TREND_SECONDS).slope(),
        "preemptions:rate5m": view.rate(layout.PREEMPTIONS),
    }


def _put_utilization(figures: Figures, view: EngineView, peaks: Mapping[str, float]) -> None:
    flops = view.rate(layout.FLOPS)
    if flops is not None and flops > 0:
        by_type = {data_type: flops / peak for data_type, peak in peaks.items() if data_type != "bytes"}
        if by_type:
            figures["flops_utilization:ratio_rate5m"] = by_type
    moved = combined(float.__add__, view.rate(layout.BYTES_READ), view.rate(layout.BYTES_WRITTEN))
    if moved is not None and moved > 0:
        put(figures, "memory_bandwidth_utilization:ratio_rate5m", share(moved, peaks.get("bytes")))


def _stuck_requests(view: EngineView) -> float | None:
    """Return the requests of an engine that makes no step and no token and leaves its KV cache as it is, else None."""
    running = view.window(layout.RUNNING, _STUCK_SECONDS).least()
    up = view.history.window(Key(layout.UP), _STUCK_SECONDS, view.end).least()
    before = view.now(layout.RUNNING, ago_seconds=_STUCK_SECONDS)
    if not running or not before or up != 1:
        return None
    if view.increase(layout.GENERATION_TOKENS, _STUCK_SECONDS) != 0:
        return None
    if view.window(layout.KV_USAGE, _STUCK_SECONDS).changes() != 0 or view.now(layout.AWAKE, "awake") == 0:
        return None
    return None if _lives(view) else running


def _stalled_requests(view: EngineView) -> float | None:
    """Return the requests that wait while an engine runs none and shows no sign of life, else None."""
    waiting = view.window(layout.WAITING, _STUCK_SECONDS).least()
    before = view.now(layout.WAITING, ago_seconds=_STUCK_SECONDS)
    if not waiting or not before or view.window(layout.RUNNING, _STUCK_SECONDS).most() != 0:
        return None
    return None if _lives(view) else waiting


def _lives(view: EngineView) -> bool:
    """Whether an engine made a step, took a prompt or ended a request; what an old vLLM lacks tells nothing."""
    signs = [view.increase(layout.STEPS, _STUCK_SECONDS), view.increase(layout.PROMPT_TOKENS, _STUCK_SECONDS)]
    signs += [view.increase(layout.FINISHED, _STUCK_SECONDS, *extra) for extra in view.extras(layout.FINISHED)]
    return any(sign is not None and sign > 0 for sign in signs)
