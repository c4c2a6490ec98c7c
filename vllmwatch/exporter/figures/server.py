"""The figures of one server; each has the name of its recording without prefix and level."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from vllmwatch.exporter.figures import layout
from vllmwatch.exporter.figures.engine import EngineView, Figures, combined, put, share
from vllmwatch.exporter.figures.gpus import GpuView
from vllmwatch.exporter.figures.history import Moments, TargetHistory
from vllmwatch.exporter.figures.layout import Key
from vllmwatch.exporter.figures.window import Window

_RATE_SECONDS = 300.0
_HOUR_SECONDS = 3600.0
_UNUSED_SECONDS = 1800.0
_JOULES_PER_KILOWATT_HOUR = 3.6e6
_AVERAGES: Mapping[str, float] = {"5m": _RATE_SECONDS, "1h": _HOUR_SECONDS}
_TOKENS = (("token", "tokens"), ("generation_token", "generation_tokens"))
_BUSY, _IDLE = "power_busy_watts:now", "power_idle_watts:now"
_COST, _BUSY_COST = "cost_per_second:now", "busy_cost_per_second:now"

# How the figures of engines become those of their server, and those of servers that of their model.
SUMMED: tuple[str, ...] = (
    *(f"{name}:rate5m" for name in ("requests_with_first_token", "prompt_tokens", "generation_tokens", "tokens")),
    *(f"{name}_prompt_tokens:rate5m" for name in ("computed", "cached", "cacheable")),
    *("requests_failed:rate5m", "requests_aborted_estimate:increase15m", "preemptions:rate5m"),
    *("requests_running:sum", "requests_waiting:sum", "requests_waiting:slope10m"),
)
_SUMMED_BY_LABEL = ("requests_finished:rate5m", "kv_cache_headroom_tokens:now")
# The figures of an engine whose sum has another name.
_OF_ENGINES = {"requests_running:sum": "requests_running:max", "requests_waiting:sum": "requests_waiting:max"}


@dataclass(frozen=True, slots=True)
class Prices:
    """What a GPU costs an hour, and a kilowatt-hour; None where it is not set."""

    gpu_hour: float | None
    kilowatt_hour: float | None


@dataclass(frozen=True, slots=True)
class ServerView:
    """One server's history up to `end` (Unix time in seconds), and its shares in GPUs by UUID."""

    history: TargetHistory
    moments: Moments[str]
    engines: Sequence[EngineView]
    shares: Mapping[str, float]
    end: float

    def window(self, metric: str, seconds: float, *extra: str, model_name: str = "") -> Window:
        """Return a window of one of the server's own series."""
        return self.history.window(Key(metric, "", model_name, extra), seconds, self.end)

    def of_moments(self, figure: str, seconds: float) -> Window:
        """Return a window of a figure that is kept moment by moment."""
        return self.moments.window(figure, seconds, self.end)


def roll_up(parts: Sequence[Figures], *, engines: bool) -> Figures:
    """Return the figures of several engines, or of several servers, together."""
    figures: Figures = {}
    for name in SUMMED:
        source = _OF_ENGINES.get(name, name) if engines else name
        _put_aggregate(figures, name, sum, [part.get(source) for part in parts])
    _put_aggregate(figures, "kv_cache_usage_ratio:max", max, [part.get("kv_cache_usage_ratio:max") for part in parts])
    for name in _SUMMED_BY_LABEL:
        by_label: dict[str, float] = {}
        for part in parts:
            values = part.get(name)
            for label, value in values.items() if isinstance(values, dict) else ():
                by_label[label] = by_label.get(label, 0.0) + value
        if by_label:
            figures[name] = by_label
    cached, cacheable = (
        number(figures, "cached_prompt_tokens:rate5m"),
        number(figures, "cacheable_prompt_tokens:rate5m"),
    )
    put(figures, "cached_prompt_tokens:ratio_rate5m", share(cached, cacheable))
    failed = number(figures, "requests_failed:rate5m")
    finished = figures.get("requests_finished:rate5m", {})
    if isinstance(finished, dict):
        put(figures, "requests_failed:ratio_rate5m", share(failed, sum(finished.values())))
    return figures


def number(figures: Figures, name: str) -> float | None:
    """Return a figure that is one number."""
    value = figures.get(name)
    return value if isinstance(value, float | int) else None


def momentary_figures(view: ServerView, figures: Figures, gpus: GpuView, prices: Prices) -> Figures:
    """Return the figures that are kept moment by moment, of those that `figures` has and of GPUs and prices."""
    found: Figures = {}
    watts = gpus.power_of(view.shares)
    running = number(figures, "requests_running:sum")
    put(found, "power_watts:avg1m", watts)
    put(found, _BUSY, combined(lambda power, runs: power if runs > 0 else 0.0, watts, running))
    put(found, _IDLE, combined(lambda power, runs: power if runs == 0 else 0.0, watts, running))
    _put_costs(found, sum(view.shares.values()), watts, running, prices)
    for _, tokens in _TOKENS:
        put(found, f"{tokens}:rate5m", number(figures, f"{tokens}:rate5m"))
    return found


def _put_costs(found: Figures, gpus: float, watts: float | None, running: float | None, prices: Prices) -> None:
    of_gpus = None if prices.gpu_hour is None or not gpus else gpus * prices.gpu_hour / _HOUR_SECONDS
    of_energy = None
    if prices.kilowatt_hour is not None and watts is not None:
        of_energy = watts * prices.kilowatt_hour / _JOULES_PER_KILOWATT_HOUR
    put(found, "gpu_cost_per_second:now", of_gpus)
    put(found, "energy_cost_per_second:now", of_energy)
    cost = combined(float.__add__, of_gpus, of_energy)
    if cost is None:
        cost = of_gpus if prices.kilowatt_hour is None else of_energy if prices.gpu_hour is None else None
    put(found, _COST, cost)
    put(found, _BUSY_COST, combined(lambda spent, runs: spent if runs > 0 else 0.0, cost, running))


@dataclass(frozen=True, slots=True)
class Spending:
    """What was spent in a window and the tokens that it made, in one measure of time; None where not known."""

    spent: float | None
    made: float | None


def spendings(view: ServerView, figures: Figures) -> dict[str, Spending]:
    """Return energy and cost with their tokens, by the name of the figure that is one divided by the other.

    Over an hour both are sums over the moments at which there are figures, so that a server that was away for a part
    of it is charged and credited for the same time. Prices are those of a million tokens.
    """
    found: dict[str, Spending] = {}
    for token, tokens in _TOKENS:
        rate = number(figures, f"{tokens}:rate5m")
        found[f"energy_per_{token}_joules:avg5m"] = Spending(_whole_average(view, _BUSY) or None, rate)
        for prefix, cost in (("", _COST), ("busy_", _BUSY_COST)):
            name = f"{prefix}cost_per_million_{tokens}"
            made = view.of_moments(f"{tokens}:rate5m", _HOUR_SECONDS).total()
            found[f"{name}:avg5m"] = Spending(_million(_whole_average(view, cost)), rate)
            found[f"{name}:avg1h"] = Spending(_million(view.of_moments(cost, _HOUR_SECONDS).total()), made)
    return found


def put_spendings(figures: Figures, parts: Sequence[Mapping[str, Spending]]) -> None:
    """Add what tokens cost in energy and money, over the servers of which both sides are known."""
    for name in dict.fromkeys(name for part in parts for name in part):
        known = [
            (each.spent, each.made)
            for part in parts
            if (each := part.get(name)) is not None and each.spent is not None and each.made is not None
        ]
        if known:
            put(figures, name, share(sum(spent for spent, _ in known), sum(made for _, made in known)))


def windowed_figures(view: ServerView, model_name: str) -> Figures:
    """Return the figures over windows of a server that says which model it serves: power, HTTP, restarts."""
    found: Figures = {}
    for window, seconds in _AVERAGES.items():
        busy, idle = view.of_moments(_BUSY, seconds).average(), view.of_moments(_IDLE, seconds).average()
        put(found, f"power_busy_watts:avg{window}", busy)
        put(found, f"power_idle_watts:avg{window}", idle)
        put(found, f"energy_idle:ratio_avg{window}", share(idle, combined(float.__add__, idle, busy)))
    _put_http(found, view, model_name)
    if view.shares:
        held = sum(view.shares.values())
        found["held_gpus:sum"] = held
        put(found, "unused_gpus:sum30m", held if _is_unused(view) else None)
    put(found, "restarts:increase1h", _restarts(view))
    return found


def _million(price: float | None) -> float | None:
    return None if price is None else 1e6 * price


def _whole_average(view: ServerView, figure: str) -> float | None:
    """Return the mean over five minutes of a figure that was there for all of them."""
    before = view.moments.at(view.end - _RATE_SECONDS)
    if before is None or before.value(figure) is None:
        return None
    return view.of_moments(figure, _RATE_SECONDS).average()


def _put_http(found: Figures, view: ServerView, model_name: str) -> None:
    rejected = _sum(
        view.window(layout.REJECTIONS, _RATE_SECONDS, *extra, model_name=model_name).rate()
        for extra in view.history.layout.extras(layout.REJECTIONS, "", model_name)
    )
    put(found, "requests_rejected:rate5m", rejected)
    rates = {
        extra: view.window(layout.HTTP_REQUESTS, _RATE_SECONDS, *extra).rate()
        for extra in view.history.layout.extras(layout.HTTP_REQUESTS)
    }
    requests = _sum(rates.values())
    if requests is None:
        return
    errors = _sum(rate for (_, _, status), rate in rates.items() if _is_error(status)) or 0.0
    found["http_requests:rate5m"] = requests
    found["http_errors:rate5m"] = max(errors - (rejected or 0.0), 0.0)
    put(found, "http_errors:ratio_rate5m", share(number(found, "http_errors:rate5m"), requests))


def _is_error(status: str) -> bool:
    return len(status) == len("5xx") and status.startswith("5")


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(sum(known)) if known else None


def _is_unused(view: ServerView) -> bool:
    """Whether no engine of a server ran a request or counted a token for half an hour, all of which was seen."""
    ran = [engine.window(layout.RUNNING, _UNUSED_SECONDS).most() for engine in view.engines]
    seen = [engine.now(layout.RUNNING, ago_seconds=_UNUSED_SECONDS) for engine in view.engines]
    if all(value is None for value in seen) or max((value for value in ran if value is not None), default=None) != 0:
        return False
    return all(
        max(
            (rise for engine in view.engines if (rise := engine.increase(metric, _UNUSED_SECONDS)) is not None),
            default=None,
        )
        == 0
        for metric in (layout.PROMPT_TOKENS, layout.GENERATION_TOKENS)
    )


def _restarts(view: ServerView) -> float | None:
    starts = view.window(layout.START, _HOUR_SECONDS).changes()
    if starts is not None:
        return float(starts)
    resets = [engine.window(layout.PROMPT_TOKENS, _HOUR_SECONDS).resets() for engine in view.engines]
    return max((float(count) for count in resets if count is not None), default=None)


def _put_aggregate(
    figures: Figures, name: str, aggregate: Callable[[Sequence[float]], float], values: Sequence[object]
) -> None:
    known = [value for value in values if isinstance(value, float | int)]
    if known:
        figures[name] = float(aggregate(known))
