"""Stories of errors: in the engine and at the front end, first errors, servers that were known late, restarts."""

from collections.abc import Mapping

from vllmwatch.catalog.recordings.stories.words import (
    MODEL,
    NODE,
    SERVER,
    expect,
    model_says,
    nothing,
    of_engine,
    of_server,
    one_server,
    series,
    server_says,
    target,
)
from vllmwatch.spec.story import Check, Series, Story

_TIME = "70m"
_B = "box:8001"
_SUCCESS = "vllm:request_success_total"
_HTTP = "http_requests_total"
_RUNNING = "vllm:num_requests_running"
_FIRST_TOKEN = "vllm:time_to_first_token_seconds_count"  # noqa: S105  # a name of a metric


def _growing(step: float, start: float = 1000) -> str:
    return f"{start}+{step}x140"


def _answers(status: str, values: str, server: str = SERVER, **labels: str) -> Series:
    return of_server(_HTTP, values, server, handler="/v1/completions", method="POST", status=status, **labels)


def _refused(values: str, server: str = SERVER) -> Series:
    labels = {"node": NODE, "server": server, "model_name": MODEL, "reason": "max_num_queued_reqs"}
    return series("vllm:admission_rejections_total", values, **labels)


def _models(counts: Mapping[str, float]) -> tuple[Check, ...]:
    return tuple(expect(_TIME, f"model:{figure}:increase5m", model_says(value)) for figure, value in counts.items())


_STEADY = Story(
    "errors of a steady day: refusals are none, a server without errors has 0, the greater share is the model's",
    30,
    (
        # In 5 minutes: 300 end, of them 20 with an error; 600 answers, of them 60 with 5xx, and 30 of these refusals.
        target("1x140"),
        of_engine(_RUNNING, "7x140"),
        of_engine(_SUCCESS, _growing(28), finished_reason="stop"),
        of_engine(_SUCCESS, _growing(2), finished_reason="error"),
        _answers("2xx", _growing(54)),
        _answers("5xx", _growing(6)),
        _refused(_growing(3)),
        # Beside it: 300 end, 100 answers, and no errors.
        target("1x140", _B),
        of_engine(_RUNNING, "7x140", server=_B),
        of_engine(_SUCCESS, _growing(30), server=_B, finished_reason="stop"),
        _answers("2xx", _growing(10), _B),
    ),
    (
        expect(_TIME, "server:requests_ended:increase10m", server_says(600), server_says(600, _B)),
        expect(_TIME, "server:requests_failed:increase10m", server_says(40), server_says(0, _B)),
        expect(_TIME, "server:requests_failed:ratio_increase10m", server_says(0.066667), server_says(0, _B)),
        expect(_TIME, "server:http_requests:increase10m", server_says(1200), server_says(200, _B)),
        expect(_TIME, "server:http_errors:increase10m", server_says(60), server_says(0, _B)),
        expect(_TIME, "server:http_errors:ratio_increase10m", server_says(0.05), server_says(0, _B)),
        expect(_TIME, "server:requests_ended:increase5m", server_says(300), server_says(300, _B)),
        expect(_TIME, "server:requests_failed:increase5m", server_says(20), server_says(0, _B)),
        expect(_TIME, "server:http_requests:increase5m", server_says(600), server_says(100, _B)),
        expect(_TIME, "server:http_errors:increase5m", server_says(30), server_says(0, _B)),
        *_models({"requests_ended": 600, "requests_failed": 20, "http_requests": 700, "http_errors": 30}),
        # 20 of 600 in the engine, 30 of 700 at the front end.
        *(
            expect(_TIME, f"model:requests_in_error:ratio_increase{window}", model_says(0.042857))
            for window in ("5m", "30m", "1h", "6h")
        ),
        # 12 times 5 minutes, and 14 of them, which is all that there was.
        expect(_TIME, "model:requests_in_error:increase1h", model_says(360)),
        expect(_TIME, "model:requests_in_error:increase6h", model_says(420)),
    ),
)

_STREAMS = Story(
    "streams that broke off are errors though their answers began with 200; a model that ended nothing has no share",
    30,
    (
        target("1x140"),
        of_engine(_RUNNING, "7x140"),
        of_engine(_SUCCESS, _growing(24), finished_reason="stop"),
        of_engine(_SUCCESS, _growing(6), finished_reason="error"),
        _answers("2xx", _growing(30)),
        target("1x140", _B, "idle"),
        of_engine(_RUNNING, "0x140", server=_B, model_name="idle"),
        of_engine(_SUCCESS, "5x140", server=_B, model_name="idle", finished_reason="stop"),
    ),
    (
        expect(_TIME, "model:requests_in_error:ratio_increase1h", model_says(0.2)),
        expect(_TIME, "model:requests_in_error:increase1h", model_says(720), model_says(0, "idle")),
        expect(_TIME, "server:requests_failed:ratio_increase10m", server_says(0.2)),
    ),
)

_FIRST_ERRORS = Story(
    "first errors count though their counter has no increase; what a server had before it was known does not",
    30,
    (
        target("1x140"),
        of_engine(_RUNNING, "7x140"),
        of_engine(_SUCCESS, _growing(30), finished_reason="stop"),
        of_engine(_SUCCESS, "_x132 12x8", finished_reason="error"),
        _answers("2xx", _growing(30)),
        _answers("5xx", "_x132 40x8"),
        # From now on scraped twice.
        _answers("2xx", f"_x132 {1000 + 30 * 132}+30x8", job="again"),
        _answers("5xx", "_x132 40x8", job="again"),
        target("_x132 1x8", _B),
        of_engine(_RUNNING, "_x132 7x8", server=_B),
        of_engine(_SUCCESS, "_x132 500x8", server=_B, finished_reason="error"),
        _answers("5xx", "_x132 900x8", _B),
    ),
    (
        expect(_TIME, "server:requests_failed:increase10m", server_says(12), server_says(0, _B)),
        expect(_TIME, "server:requests_ended:increase10m", server_says(612), server_says(0, _B)),
        expect(_TIME, "server:http_errors:increase10m", server_says(40), server_says(0, _B)),
        expect(_TIME, "server:http_requests:increase10m", server_says(640), server_says(0, _B)),
        expect(_TIME, "model:http_errors:increase5m", model_says(40)),
        expect(_TIME, "server:http_errors:ratio_increase10m", server_says(0.0625)),
    ),
)

_RESTART = Story(
    "a restart loses errors from before it and makes none; refusals seen before their answers are no errors below zero",
    30,
    (
        target("1x140"),
        of_engine(_RUNNING, "7x140"),
        of_engine(_SUCCESS, "9000+30x132 30+30x8", finished_reason="stop"),
        of_engine(_SUCCESS, "400x132 0x8", finished_reason="error"),
        _answers("2xx", "9000+30x132 30+30x8"),
        _answers("5xx", "700x132 _x8"),
        _refused("700x132 5x8"),
    ),
    (
        expect(_TIME, "server:requests_ended:increase10m", server_says(600)),
        *one_server(_TIME, "requests_failed:increase5m", 0),
        *one_server(_TIME, "http_errors:increase5m", 0),
    ),
)

_GIVEN_UP = Story(
    "of 60 requests with a first token 10 are nowhere: they were given up; without a request there is no share",
    30,
    (
        of_engine(_FIRST_TOKEN, _growing(60)),
        of_engine(_SUCCESS, _growing(50), finished_reason="stop"),
        of_engine(_RUNNING, "7x140"),
        of_engine(_FIRST_TOKEN, "5x140", server=_B, model_name="idle"),
        of_engine(_SUCCESS, "5x140", server=_B, model_name="idle", finished_reason="stop"),
        of_engine(_RUNNING, "0x140", server=_B, model_name="idle"),
    ),
    (
        expect(_TIME, "model:requests_aborted_estimate:ratio_increase15m", model_says(0.166667)),
        *nothing(_TIME, "server:http_requests:increase10m"),
    ),
)

STORIES: tuple[Story, ...] = (_STEADY, _STREAMS, _FIRST_ERRORS, _RESTART, _GIVEN_UP)
