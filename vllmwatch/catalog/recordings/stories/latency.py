"""Stories of latency: shares at an edge over every window, quantiles only where there is enough to tell."""

from collections.abc import Mapping

from vllmwatch.catalog.objectives import WINDOWS
from vllmwatch.catalog.recordings.stories.words import (
    expect,
    model_says,
    nothing,
    of_engine,
    one_server,
    server_says,
)
from vllmwatch.spec.story import Check, Series, Story

_B = "box:8001"
_REQUEST = "vllm:e2e_request_latency_seconds"
_FIRST_TOKEN = "vllm:time_to_first_token_seconds"  # noqa: S105  # a name of a metric
_INTER_TOKEN = "vllm:inter_token_latency_seconds"  # noqa: S105  # a name of a metric
_QUEUE = "vllm:request_queue_time_seconds"
_MINUTES = {"5m": 5, "10m": 10, "30m": 30, "1h": 60, "6h": 360}
_LONG = "6h30m"


def _histogram(
    metric: str, each_minute: Mapping[str, float], minutes: int, engine: str = "0", server: str = "box:8000"
) -> tuple[Series, ...]:
    """Return a histogram of which each bucket counts so many each minute; the last bucket counts all."""
    values = [(edge, f"5000+{step}x{minutes}") for edge, step in each_minute.items()]
    return (
        *(of_engine(f"{metric}_bucket", growing, engine, server, le=edge) for edge, growing in values),
        of_engine(f"{metric}_count", values[-1][1], engine, server),
    )


def _windows(word: str, observed: float, slow: float, windows: tuple[str, ...] = WINDOWS) -> tuple[Check, ...]:
    """Return the checks of every window, of so many each minute."""
    checks: list[Check] = []
    for window in windows:
        minutes = _MINUTES[window]
        checks += one_server(_LONG, f"{word}_observed:increase{window}", observed * minutes)
        checks += one_server(_LONG, f"{word}_slow:increase{window}", slow * minutes)
        checks += one_server(_LONG, f"{word}_slow:ratio_increase{window}", slow / observed)
    return tuple(checks)


_REQUESTS_A_MINUTE = {"1.0": 30, "2.0": 57, "5.0": 60, "+Inf": 60}
_FIRST_TOKENS_A_MINUTE = {"1.0": 30, "2.5": 54, "5.0": 60, "+Inf": 60}
_STEPS_A_MINUTE = {"0.05": 300, "0.1": 570, "0.2": 600, "+Inf": 600}
_QUEUED_A_MINUTE = {"0.3": 30, "0.5": 54, "1.0": 57, "2.0": 60, "+Inf": 60}
_BUCKETS: tuple[tuple[str, Mapping[str, float]], ...] = (
    ("request_latency", _REQUESTS_A_MINUTE),
    ("time_to_first_token", _FIRST_TOKENS_A_MINUTE),
    ("inter_token_latency", _STEPS_A_MINUTE),
    ("queue_time", _QUEUED_A_MINUTE),
)
# Of 300 requests, 150 take up to 1 s, 285 up to 2 s, all up to 5 s. The 150th is at the edge of 1 s, the 270th at 120
# of 135 between 1 s and 2 s, the 297th at 12 of 15 between 2 s and 5 s; the others likewise.
_QUANTILES: tuple[tuple[str, float, float, float], ...] = (
    ("request_latency", 1.0, 1.888889, 4.4),
    ("time_to_first_token", 1.0, 2.5, 4.75),
    ("inter_token_latency", 0.05, 0.094444, 0.18),
    ("queue_time", 0.3, 0.5, 1.8),
)


def _buckets(word: str, each_minute: Mapping[str, float]) -> tuple[Check, ...]:
    rates = [(edge, round(step / 60, 6)) for edge, step in each_minute.items()]
    figure = f"{word}_bucket:rate5m"
    return (
        expect(_LONG, f"server:{figure}", *(server_says(rate, le=edge) for edge, rate in rates)),
        expect(_LONG, f"model:{figure}", *(model_says(rate, le=edge) for edge, rate in rates)),
    )


_STEADY = Story(
    "steady traffic: the share above an objective is the same over every window, whatever an idle engine adds",
    60,
    (
        *_histogram(_REQUEST, _REQUESTS_A_MINUTE, 400, "1"),
        *_histogram(_REQUEST, dict.fromkeys(_REQUESTS_A_MINUTE, 0), 400),
        *_histogram(_FIRST_TOKEN, _FIRST_TOKENS_A_MINUTE, 400),
        *_histogram(_INTER_TOKEN, _STEPS_A_MINUTE, 400),
        *_histogram(_QUEUE, _QUEUED_A_MINUTE, 400),
    ),
    (
        *_windows("request_latency", 60, 3),
        *_windows("time_to_first_token", 60, 6),
        *_windows("inter_token_latency", 600, 30),
        *_windows("queue_time", 60, 3, ("10m",)),
        expect(_LONG, "model:request_latency_slow:ratio_increase72h", model_says(0.05)),
        *(check for word, each_minute in _BUCKETS for check in _buckets(word, each_minute)),
        *(
            check
            for word, *values in _QUANTILES
            for percent, value in zip((50, 90, 99), values, strict=True)
            for check in one_server(_LONG, f"{word}_seconds:p{percent}_5m", value)
        ),
    ),
)

_MIXED = Story(
    "of two servers one has no edge at 2 s: it has no share, the model's is over the other, its quantile is not told",
    60,
    (
        *_histogram(_REQUEST, _REQUESTS_A_MINUTE, 40),
        *_histogram(_REQUEST, {"1.0": 20, "5.0": 60, "+Inf": 60}, 40, server=_B),
    ),
    (
        *one_server("20m", "request_latency_observed:increase5m", 300),
        *one_server("20m", "request_latency_slow:increase5m", 15),
        *one_server("20m", "request_latency_slow:ratio_increase5m", 0.05),
        expect("20m", "server:request_latency_seconds:p50_5m", server_says(1), server_says(2, _B)),
        *nothing("20m", "model:request_latency_bucket:rate5m", "model:request_latency_seconds:p50_5m"),
    ),
)

_SAME = Story(
    "servers with the same edges: the model's quantile is that of all requests, no average of the servers'",
    60,
    (
        *_histogram(_REQUEST, {"1.0": 90, "2.0": 90, "5.0": 90, "+Inf": 90}, 40),
        *_histogram(_REQUEST, {"1.0": 0, "2.0": 0, "5.0": 10, "+Inf": 10}, 40, server=_B),
    ),
    (
        # 450 of 500 requests take up to 1 s, and 50 take 2 to 5 s; the 495th is at 45 of the 50.
        expect("20m", "model:request_latency_seconds:p99_5m", model_says(4.7)),
        expect("20m", "server:request_latency_seconds:p99_5m", server_says(0.99)),
        expect("20m", "server:request_latency_slow:ratio_increase5m", server_says(0), server_says(1, _B)),
        expect("20m", "model:request_latency_slow:ratio_increase5m", model_says(0.1)),
    ),
)

_FEW = Story(
    "few requests: 10 in five minutes tell the median and the 90th percentile, and no 99th",
    60,
    _histogram(_REQUEST, {"1.0": 1, "2.0": 1, "5.0": 2, "+Inf": 2}, 40),
    (
        *one_server("20m", "request_latency_slow:ratio_increase5m", 0.5),
        *one_server("20m", "request_latency_seconds:p50_5m", 1),
        *one_server("20m", "request_latency_seconds:p90_5m", 4.4),
        *nothing("20m", "server:request_latency_seconds:p99_5m", "model:request_latency_seconds:p99_5m"),
    ),
)

_IDLE_NIGHT = Story(
    "an idle night has no share and no quantile, and above all none that is not a number",
    60,
    tuple(
        series
        for metric, each in ((_REQUEST, _REQUESTS_A_MINUTE), (_FIRST_TOKEN, _FIRST_TOKENS_A_MINUTE))
        for series in _histogram(metric, dict.fromkeys(each, 0), 40)
    ),
    (
        *one_server("20m", "request_latency_observed:increase5m", 0),
        *one_server("20m", "request_latency_slow:increase5m", 0),
        *nothing(
            "20m",
            *(
                f"{level}:{figure}"
                for level in ("server", "model")
                for figure in (
                    "request_latency_slow:ratio_increase5m",
                    "time_to_first_token_slow:ratio_increase5m",
                    "request_latency_seconds:p50_5m",
                    "request_latency_seconds:p99_5m",
                )
            ),
        ),
    ),
)

_RESTART = Story(
    "a restart in the middle makes nobody slow",
    60,
    (
        of_engine(f"{_REQUEST}_bucket", "9000+57x17 57+57x20", le="2.0"),
        of_engine(f"{_REQUEST}_count", "9000+57x17 57+57x20"),
    ),
    (
        *one_server("20m", "request_latency_observed:increase5m", 285),
        *one_server("20m", "request_latency_slow:increase5m", 0),
        *one_server("20m", "request_latency_slow:ratio_increase5m", 0),
    ),
)

_TWO_JOBS = Story(
    "one exporter scraped by two jobs: requests count once",
    60,
    tuple(
        of_engine(name, f"5000+{step}x40", job=job, **labels)
        for job in ("vllmwatch", "again")
        for name, step, labels in (
            (f"{_REQUEST}_bucket", 57, {"le": "2.0"}),
            (f"{_REQUEST}_bucket", 60, {"le": "+Inf"}),
            (f"{_REQUEST}_count", 60, {}),
        )
    ),
    (
        *one_server("20m", "request_latency_observed:increase5m", 300),
        *one_server("20m", "request_latency_slow:increase5m", 15),
    ),
)

_SLOW_HOURS = Story(
    "three slow hours are half of six for the share over three days, which goes by whole hours",
    60,
    (
        of_engine(f"{_REQUEST}_bucket", "0x180 60+60x219", le="2.0"),
        of_engine(f"{_REQUEST}_count", "0+60x400"),
    ),
    (
        expect(_LONG, "model:request_latency_slow:ratio_increase72h", model_says(0.5)),
        expect(_LONG, "model:request_latency_slow:ratio_increase6h", model_says(0.416667)),
        expect(_LONG, "model:request_latency_slow:ratio_increase1h", model_says(0)),
    ),
)

STORIES: tuple[Story, ...] = (_STEADY, _SLOW_HOURS, _MIXED, _SAME, _FEW, _IDLE_NIGHT, _RESTART, _TWO_JOBS)
