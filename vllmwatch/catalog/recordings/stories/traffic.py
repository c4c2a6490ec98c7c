"""Stories of traffic: idle and busy engines, restarts, aborts, refusals, old releases."""

from vllmwatch.catalog.recordings.stories.words import (
    engine_says,
    expect,
    model_says,
    nothing,
    of_engine,
    of_server,
    one_engine,
    series,
    server_says,
    target,
)
from vllmwatch.spec.story import Check, Series, Story

_TIME = "20m"
_B = "box:8001"
_SUCCESS = "vllm:request_success_total"
_FIRST_TOKEN = "vllm:time_to_first_token_seconds_count"  # noqa: S105  # a name of a metric
_RUNNING = "vllm:num_requests_running"
# Every 30 seconds: 45 requests end (one second in two of them another one), of which 3 with an error.
_BUSY = {
    _FIRST_TOKEN: 48,
    "vllm:prompt_tokens_total": 3000,
    "vllm:generation_tokens_total": 6000,
    "vllm:prompt_tokens_cached_total": 900,
}
_FINISHED = {"stop": 30, "length": 15, "error": 3}


def _growing(step: float, start: float = 1000) -> str:
    return f"{start}+{step}x60"


def _engine(engine: str, times: int) -> tuple[Series, ...]:
    return (
        *(of_engine(name, _growing(step * times), engine) for name, step in _BUSY.items()),
        *(
            of_engine(_SUCCESS, _growing(step * times), engine, finished_reason=reason)
            for reason, step in _FINISHED.items()
        ),
        of_engine("vllm:prompt_tokens_by_source_total", _growing(2100 * times), engine, source="local_compute"),
        of_engine("vllm:prompt_tokens_by_source_total", _growing(900 * times), engine, source="local_cache_hit"),
        of_engine(_RUNNING, "7x60", engine),
    )


def _both(figure: str, value: float, how: str = "rate5m") -> tuple[Check, ...]:
    """Return the checks of a rate of the busy engine, and of the idle one beside it."""
    return (
        expect(_TIME, f"engine:{figure}:{how}", engine_says(0, "0"), engine_says(value, "1")),
        expect(_TIME, f"server:{figure}:{how}", server_says(value)),
        expect(_TIME, f"model:{figure}:{how}", model_says(value)),
    )


def _shares(figure: str, value: float) -> tuple[Check, ...]:
    """Return the checks of a share, which the idle engine does not have."""
    return (
        expect(_TIME, f"engine:{figure}:ratio_rate5m", engine_says(value, "1")),
        expect(_TIME, f"server:{figure}:ratio_rate5m", server_says(value)),
        expect(_TIME, f"model:{figure}:ratio_rate5m", model_says(value)),
    )


_IDLE_AND_SATURATED = Story(
    "of two data-parallel engines one is idle and one is saturated: the idle one changes no share",
    30,
    (target("1x60"), *_engine("0", 0), *_engine("1", 1)),
    (
        expect(
            _TIME,
            "engine:requests_finished:rate5m",
            *(engine_says(0, "0", finished_reason=reason) for reason in _FINISHED),
            engine_says(1, "1", finished_reason="stop"),
            engine_says(0.5, "1", finished_reason="length"),
            engine_says(0.1, "1", finished_reason="error"),
        ),
        expect(
            _TIME,
            "server:requests_finished:rate5m",
            server_says(1, finished_reason="stop"),
            server_says(0.5, finished_reason="length"),
            server_says(0.1, finished_reason="error"),
        ),
        expect(
            _TIME,
            "model:requests_finished:rate5m",
            model_says(1, finished_reason="stop"),
            model_says(0.5, finished_reason="length"),
            model_says(0.1, finished_reason="error"),
        ),
        *_both("requests_with_first_token", 1.6),
        *_both("prompt_tokens", 100),
        *_both("generation_tokens", 200),
        *_both("tokens", 300),
        *_both("computed_prompt_tokens", 70),
        *_both("cached_prompt_tokens", 30),
        *_both("cacheable_prompt_tokens", 100),
        *_shares("cached_prompt_tokens", 0.3),
        *_both("requests_failed", 0.1),
        *_shares("requests_failed", 0.0625),
        *_both("requests_aborted_estimate", 0, "increase15m"),
    ),
)

_ABORTS = Story(
    "aborted requests are estimated, those that a front end counts are not counted twice, growth is no abort",
    30,
    (
        # 10 of 60 in 30 seconds are nowhere: 300 in 15 minutes.
        of_engine(_FIRST_TOKEN, _growing(60)),
        of_engine(_SUCCESS, _growing(50), finished_reason="stop"),
        of_engine(_RUNNING, "7x60"),
        # The Rust front end says so itself.
        of_engine(_FIRST_TOKEN, _growing(60), server=_B),
        of_engine(_SUCCESS, _growing(50), server=_B, finished_reason="stop"),
        of_engine(_SUCCESS, _growing(10), server=_B, finished_reason="abort"),
        of_engine(_RUNNING, "7x60", server=_B),
        # One more runs after each 30 seconds.
        of_engine(_FIRST_TOKEN, _growing(60), server="box:8002"),
        of_engine(_SUCCESS, _growing(59), server="box:8002", finished_reason="stop"),
        of_engine(_RUNNING, "0+1x60", server="box:8002"),
        # A pooling model has no first token.
        of_engine(_FIRST_TOKEN, "0x60", server="box:8003", model_name="embedder"),
        of_engine(_SUCCESS, _growing(59), server="box:8003", model_name="embedder", finished_reason="stop"),
        of_engine(_RUNNING, "3x60", server="box:8003", model_name="embedder"),
    ),
    (
        expect(
            _TIME,
            "engine:requests_aborted_estimate:increase15m",
            engine_says(300),
            engine_says(300, server=_B),
            engine_says(0, server="box:8002"),
        ),
        expect(
            _TIME,
            "server:requests_aborted_estimate:increase15m",
            server_says(300),
            server_says(300, _B),
            server_says(0, "box:8002"),
        ),
        expect(_TIME, "model:requests_aborted_estimate:increase15m", model_says(600)),
    ),
)

_HTTP = Story(
    "refusals for a full queue are no errors, a server without errors has 0, other programs' requests are not ours",
    30,
    (
        target("1x60"),
        target("1x60", _B),
        of_server("http_requests_total", _growing(54), handler="/v1/completions", method="POST", status="2xx"),
        of_server("http_requests_total", _growing(4), handler="/v1/completions", method="POST", status="5xx"),
        of_server("http_requests_total", _growing(2), handler="/v1/chat/completions", method="POST", status="5xx"),
        series(
            "vllm:admission_rejections_total",
            _growing(3),
            node="box",
            server="box:8000",
            model_name="llama",
            reason="max_num_queued_reqs",
        ),
        of_server("http_requests_total", _growing(30), _B, handler="/v1/completions", method="POST", status="2xx"),
        series("http_requests_total", _growing(900), handler="/", method="GET", status="5xx", node="box"),
    ),
    (
        expect(_TIME, "server:http_requests:rate5m", server_says(2), server_says(1, _B)),
        expect(_TIME, "model:http_requests:rate5m", model_says(3)),
        expect(_TIME, "server:requests_rejected:rate5m", server_says(0.1)),
        expect(_TIME, "model:requests_rejected:rate5m", model_says(0.1)),
        expect(_TIME, "server:http_errors:rate5m", server_says(0.1), server_says(0, _B)),
        expect(_TIME, "model:http_errors:rate5m", model_says(0.1)),
        expect(_TIME, "server:http_errors:ratio_rate5m", server_says(0.05), server_says(0, _B)),
        expect(_TIME, "model:http_errors:ratio_rate5m", model_says(0.033333)),
    ),
)

_MORE_REFUSED_THAN_FAILED = Story(
    "refusals that are seen before their answers make no errors below zero",
    30,
    (
        target("1x60"),
        of_server("http_requests_total", _growing(1), handler="/v1/completions", method="POST", status="5xx"),
        series(
            "vllm:admission_rejections_total",
            _growing(3),
            node="box",
            server="box:8000",
            model_name="llama",
            reason="max_num_queued_reqs",
        ),
    ),
    (expect(_TIME, "server:http_errors:rate5m", server_says(0)),),
)

_RESTART = Story(
    "a restart in the middle is neither a negative rate nor a jump",
    30,
    (of_engine("vllm:generation_tokens_total", "90000+300x35 300+300x20"),),
    one_engine(_TIME, "generation_tokens:rate5m", 10),
)

_IDLE_NIGHT = Story(
    "an idle night has rates of 0 and no shares",
    30,
    (target("1x60"), *_engine("0", 0)),
    (
        *one_engine(_TIME, "tokens:rate5m", 0),
        *nothing(
            _TIME,
            *(
                f"{level}:{figure}:ratio_rate5m"
                for level in ("engine", "server", "model")
                for figure in ("cached_prompt_tokens", "requests_failed")
            ),
            "server:http_errors:ratio_rate5m",
        ),
    ),
)

_TWO_JOBS = Story(
    "one exporter scraped by two jobs, and the server scraped beside it, count once",
    30,
    (
        of_engine(_SUCCESS, _growing(30), finished_reason="stop"),
        of_engine(_SUCCESS, _growing(30), finished_reason="stop", job="again"),
        series(_SUCCESS, _growing(30), engine="0", model_name="llama", finished_reason="stop", job="direct"),
    ),
    one_engine(_TIME, "requests_finished:rate5m", 1, finished_reason="stop"),
)

_VERSIONS = Story(
    "servers of different releases: the cached share of the model is over what each of them counts",
    30,
    (
        # 60 tokens a second of which 15 come from a cache.
        of_engine("vllm:prompt_tokens_total", _growing(1800)),
        of_engine("vllm:prompt_tokens_cached_total", _growing(450)),
        of_engine("vllm:prompt_tokens_by_source_total", _growing(1350), source="local_compute"),
        of_engine("vllm:prefix_cache_queries_total", _growing(9000)),
        of_engine("vllm:prefix_cache_hits_total", _growing(9000)),
        # 0.15: 40 tokens a second, all looked up, of which 25 were found.
        of_engine("vllm:prompt_tokens_total", _growing(1200), server=_B),
        of_engine("vllm:prefix_cache_queries_total", _growing(1200), server=_B),
        of_engine("vllm:prefix_cache_hits_total", _growing(750), server=_B),
    ),
    (
        expect(_TIME, "server:cached_prompt_tokens:ratio_rate5m", server_says(0.25), server_says(0.625, _B)),
        expect(_TIME, "model:cached_prompt_tokens:ratio_rate5m", model_says(0.4)),
        expect(_TIME, "engine:computed_prompt_tokens:rate5m", engine_says(45), engine_says(15, server=_B)),
    ),
)

STORIES: tuple[Story, ...] = (
    _IDLE_AND_SATURATED,
    _ABORTS,
    _HTTP,
    _MORE_REFUSED_THAN_FAILED,
    _RESTART,
    _IDLE_NIGHT,
    _TWO_JOBS,
    _VERSIONS,
)
