"""Latency: what is slower than its objective, counted at a bucket edge; and quantiles, for display alone."""

from collections.abc import Iterator, Sequence

from vllmwatch.catalog.latencies import LATENCIES, REQUEST, Latency
from vllmwatch.catalog.objectives import Objective
from vllmwatch.catalog.recordings.terms import EDGE, MODEL, SERVER, engine_increase, engine_rate
from vllmwatch.spec.promql import aggregate, either, is_none_of, is_one_of, labels_text, steps
from vllmwatch.spec.recording import EVENTS_PER_SECOND, REQUESTS, Group, Recording
from vllmwatch.spec.unit import RATIO, SECONDS

QUANTILES: tuple[float, ...] = (0.5, 0.9, 0.99)
_WINDOW_SECONDS = 300
_LONG = "72h"
# Counters of so long are not read anew every half minute: what was counted in steps is summed.
_OF_STEPS = frozenset({"6h"})
_STEP = "5m"


def _counts(objective: Objective, window: str) -> Iterator[Recording]:
    """Yield what was observed and what was slow, of servers that have the objective's edge alone."""
    latency = objective.latency
    every = engine_increase(f"{latency.metric}_count", window=window)
    within = _within(objective, window)
    for figure, help_text, expression in (
        ("observed", f"{latency.what.capitalize()} that were timed.", f"{every} and {within}"),
        (
            "slow",
            f"{latency.what.capitalize()} {_longer(objective)}.",
            f"clamp_min({every} - {within}, 0)",
        ),
    ):
        where = f"{latency.word}_{figure}", f"increase{window}"
        of_server = aggregate("sum", SERVER, expression)
        if window in _OF_STEPS:
            of_server = f"sum_over_time({steps(f'vllmwatch:server:{where[0]}:increase{_STEP}', window, _STEP)})"
        yield Recording("server", *where, help_text, REQUESTS, of_server)
        name = f"vllmwatch:server:{where[0]}:{where[1]}"
        yield Recording("model", *where, help_text, REQUESTS, aggregate("sum", MODEL, name))


def _within(objective: Objective, window: str) -> str:
    """Return what was within the objective, counted at the edge that is each model's."""
    bucket = f"{objective.latency.metric}_bucket"
    own = objective.edges_of_models
    if not own:
        return engine_increase(bucket, f'le="{objective.edge}"', window=window)
    models = sorted(objective.models)
    counted = [engine_increase(bucket, f'le="{objective.edge}"', is_none_of("model_name", models), window=window)]
    counted += [
        engine_increase(bucket, f'le="{edge}"', is_one_of("model_name", models), window=window)
        for edge, models in own.items()
    ]
    return f"(\n{either(*counted)}\n)"


def _longer(objective: Objective) -> str:
    own = "".join(f", of {model} {seconds:g} s" for model, seconds in sorted(objective.models.items()))
    return f"that took longer than {objective.edge} s{own}"


def _share(objective: Objective, window: str) -> Iterator[Recording]:
    word, what = objective.latency.word, objective.latency.what
    help_text = f"Share of {what} {_longer(objective)}; absent without any."
    for level in ("server", "model"):
        slow, observed = (f"vllmwatch:{level}:{word}_{figure}:increase{window}" for figure in ("slow", "observed"))
        yield Recording(
            level, f"{word}_slow", f"ratio_increase{window}", help_text, RATIO, f"{slow} / ({observed} > 0)"
        )


def _buckets(latency: Latency) -> Iterator[Recording]:
    """Yield the histogram of a server, and that of a model whose servers all have the same edges."""
    each = engine_rate(f"{latency.metric}_bucket", labels=(EDGE,))
    server = Recording(
        "server",
        f"{latency.word}_bucket",
        "rate5m",
        f"The histogram of {latency.word.replace('_', ' ')}, all engines together.",
        EVENTS_PER_SECOND,
        aggregate("sum", (*SERVER, "le"), each),
        (EDGE,),
    )
    yield server
    having = aggregate("count", (*MODEL, "le"), server.name)
    most, least = aggregate("max", MODEL, having), aggregate("min", MODEL, having)
    yield Recording(
        "model",
        server.figure,
        "rate5m",
        f"{server.help.removesuffix('engines together.')}servers together; absent where their edges differ.",
        EVENTS_PER_SECOND,
        f"{aggregate('sum', (*MODEL, 'le'), server.name)}\nunless on ({labels_text(MODEL)}) (\n{most}\n!=\n{least}\n)",
        (EDGE,),
    )


def _quantiles(latency: Latency) -> Iterator[Recording]:
    for level, labels in (("server", SERVER), ("model", MODEL)):
        buckets = f"vllmwatch:{level}:{latency.word}_bucket:rate5m"
        for quantile in QUANTILES:
            percent = round(quantile * 100)
            least = round(1 / (1 - quantile))
            observed = f'round({buckets}{{le="+Inf"}} * {_WINDOW_SECONDS})'
            yield Recording(
                level,
                f"{latency.word}_seconds",
                f"p{percent}_5m",
                f"The {percent}th percentile, interpolated within a bucket, for display alone; "
                f"absent with fewer than {least} {latency.what} in 5 minutes.",
                SECONDS,
                f"histogram_quantile({quantile:g}, {buckets})\nand on ({labels_text(labels)}) ({observed} >= {least})",
            )


def _long(objective: Objective) -> Iterator[Recording]:
    """Yield the share of a model's requests over three days, from the counts of its hours."""
    word = objective.latency.word
    slow, observed = (
        f"sum_over_time({steps(f'vllmwatch:model:{word}_{figure}:increase1h', _LONG, '1h')})"
        for figure in ("slow", "observed")
    )
    help_text = f"Share of {objective.latency.what} {_longer(objective)}; absent without any."
    yield Recording("model", f"{word}_slow", f"ratio_increase{_LONG}", help_text, RATIO, f"{slow} / ({observed} > 0)")


def latency_group(objectives: Sequence[Objective]) -> Group:
    """Return the recordings of objectives, one a latency, and of the quantiles of all latencies."""
    recordings: list[Recording] = []
    for objective in objectives:
        for window in objective.windows:
            recordings += [*_counts(objective, window), *_share(objective, window)]
        if objective.latency is REQUEST:
            recordings += _long(objective)
    for latency in LATENCIES:
        recordings += [*_buckets(latency), *_quantiles(latency)]
    return Group("latency", "What is slower than its objective, and quantiles for display.", 30, tuple(recordings))
