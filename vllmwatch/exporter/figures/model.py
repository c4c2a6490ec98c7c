"""The figures of a model: those of its servers together, and where the servers differ; pure."""

from collections.abc import Sequence

from vllmwatch.exporter.figures.engine import Figures, combined, put, share
from vllmwatch.exporter.figures.layout import Layout
from vllmwatch.exporter.figures.server import number, roll_up
from vllmwatch.exporter.watch import TargetSample

_SUMMED = (
    *("http_requests:rate5m", "http_errors:rate5m", "requests_rejected:rate5m", "restarts:increase1h"),
    *("held_gpus:sum", "power_watts:avg1m", "gpu_cost_per_second:now", "energy_cost_per_second:now"),
    *("cost_per_second:now", "busy_cost_per_second:now"),
    *(f"power_{word}_watts:avg{window}" for word in ("busy", "idle") for window in ("5m", "1h")),
)


def model_figures(servers: Sequence[Figures], samples: Sequence[TargetSample], layouts: Sequence[Layout]) -> Figures:
    """Return the figures of a model, of its servers' figures, samples, and the layouts of those that are up."""
    figures = roll_up(servers, engines=False)
    for name in _SUMMED:
        known = [value for server in servers if (value := number(server, name)) is not None]
        if known:
            figures[name] = float(sum(known))
    put(
        figures,
        "http_errors:ratio_rate5m",
        share(number(figures, "http_errors:rate5m"), number(figures, "http_requests:rate5m")),
    )
    for window in ("5m", "1h"):
        idle, busy = (number(figures, f"power_{word}_watts:avg{window}") for word in ("idle", "busy"))
        put(figures, f"energy_idle:ratio_avg{window}", share(idle, combined(float.__add__, idle, busy)))
    _put_count(figures, "versions:count", len({sample.facts.version for sample in samples if sample.up} - {""}))
    _put_count(figures, "cache_configurations:count", len({each for one in layouts for each in one.configurations}))
    return figures


def _put_count(figures: Figures, name: str, count: int) -> None:
    if count:
        figures[name] = float(count)
