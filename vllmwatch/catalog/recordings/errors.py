"""Errors: requests that failed in the engine or at the front end, counted over windows that alerts hold them against.

A counter that comes into being with its first error has no increase, so within a window in which its server was there
all along it counts with all that it has.
"""

from collections.abc import Iterator

from vllmwatch.catalog.recordings.terms import (
    ENGINE,
    FINISHED_REASON,
    MODEL,
    ON_WHO,
    RUNNING,
    SERVER,
    SERVER_INFO,
    WHO,
    engine_increase,
    upstream,
)
from vllmwatch.spec.promql import aggregate, either, steps
from vllmwatch.spec.recording import REQUESTS, Group, Recording
from vllmwatch.spec.unit import RATIO

_SUCCESS = "vllm:request_success_total"
_HTTP = "http_requests_total"
_REJECTIONS = "vllm:admission_rejections_total"
_STEP = "5m"
# The windows of AvailabilityBudgetBurning.
_WINDOWS = ("30m", "1h", "6h")
_COUNTED_WINDOWS = ("1h", "6h")
_ABORT_WINDOW = "15m"
_FIGURES: tuple[tuple[str, str], ...] = (
    ("requests_ended", "Requests that ended in the engine, however."),
    ("requests_failed", "Requests that ended with an error within the engine."),
    ("http_requests", "HTTP requests answered."),
    ("http_errors", "HTTP requests answered with 5xx, less those refused since the queue was at its limit."),
)
# The part and the whole of each share, by where the error was seen.
_PLACES: tuple[tuple[str, str, str], ...] = (
    ("engine", "requests_failed", "requests_ended"),
    ("http", "http_errors", "http_requests"),
)


def _grown(metric: str, each: tuple[str, ...], window: str, *matchers: str) -> str:
    """Return the increase of each series, counted once, and of one that is new to a known server what it has."""
    now = aggregate("max", each, upstream(metric, *matchers))
    before = aggregate("max", each, f"{upstream(metric, *matchers)} offset {window}")
    known = aggregate("max", WHO, f"{upstream(RUNNING)} offset {window}")
    grown = aggregate("max", each, f"increase({upstream(metric, *matchers, window=window)})")
    return f"\n{now}\nunless {before}\nand {ON_WHO} {known}\nor {grown}\n"


def _counts(window: str) -> dict[str, str]:
    """Return the expression of each figure of a server over a window."""
    each_end = (*ENGINE, FINISHED_REASON.name)
    each_answer = (*WHO, "handler", "method", "status")
    ended = aggregate("sum", SERVER, _grown(_SUCCESS, each_end, window))
    failed = aggregate("sum", SERVER, _grown(_SUCCESS, each_end, window, 'finished_reason="error"'))
    answered = aggregate("sum", WHO, _grown(_HTTP, each_answer, window))
    refused = aggregate("sum", SERVER, _grown(_REJECTIONS, (*SERVER, "reason"), window))
    wrong = aggregate("sum", WHO, _grown(_HTTP, each_answer, window, 'status=~"5.."'))
    requests = f"vllmwatch:server:http_requests:increase{window}"
    return {
        "requests_ended": ended,
        "requests_failed": f"{failed}\nor 0 * vllmwatch:server:requests_ended:increase{window}",
        "http_requests": f"{SERVER_INFO} * {ON_WHO} group_left () {answered}",
        "http_errors": f"clamp_min(\n({SERVER_INFO} * {ON_WHO} group_left () {wrong} or 0 * {requests})\n"
        f"- ({refused} or 0 * {requests}),\n0)",
    }


def _of_servers(window: str) -> Iterator[Recording]:
    counts = _counts(window)
    for figure, help_text in _FIGURES:
        yield Recording("server", figure, f"increase{window}", help_text, REQUESTS, counts[figure])


def _shares_of_servers() -> Iterator[Recording]:
    for _, part, whole in _PLACES:
        yield Recording(
            "server",
            part,
            "ratio_increase10m",
            f"Share of {part.replace('_', ' ')} among {whole.replace('_', ' ')}; absent without any.",
            RATIO,
            f"vllmwatch:server:{part}:increase10m / (vllmwatch:server:{whole}:increase10m > 0)",
        )


def _of_models() -> Iterator[Recording]:
    for figure, help_text in _FIGURES:
        name = f"vllmwatch:server:{figure}:increase{_STEP}"
        yield Recording("model", figure, f"increase{_STEP}", help_text, REQUESTS, aggregate("sum", MODEL, name))


def _over(figure: str, window: str) -> str:
    name = f"vllmwatch:model:{figure}:increase{_STEP}"
    return name if window == _STEP else f"sum_over_time({steps(name, window, _STEP)})"


def _worse(of_place: dict[str, str]) -> str:
    """Return the greater of two figures of a model, or the only one."""
    marked = [f'label_replace({expression}, "place", "{place}", "", "")' for place, expression in of_place.items()]
    return aggregate("max", MODEL, f"\n{either(*marked)}\n")


def _errors_of_models() -> Iterator[Recording]:
    for window in (_STEP, *_WINDOWS):
        parts = {place: _over(part, window) for place, part, _ in _PLACES}
        shares = {place: f"{parts[place]} / ({_over(whole, window)} > 0)" for place, _, whole in _PLACES}
        yield Recording(
            "model",
            "requests_in_error",
            f"ratio_increase{window}",
            "Share of requests that ended in an error of the server, in the engine or at the front end, "
            "where it is greater; absent without requests.",
            RATIO,
            _worse(shares),
        )
        if window in _COUNTED_WINDOWS:
            yield Recording(
                "model",
                "requests_in_error",
                f"increase{window}",
                "Requests that ended in an error of the server, in the engine or at the front end, where it is more.",
                REQUESTS,
                _worse(parts),
            )


_WITH_A_FIRST_TOKEN = engine_increase("vllm:time_to_first_token_seconds_count", window=_ABORT_WINDOW)

GROUP = Group(
    "errors",
    "Requests that failed, over the windows that alerts hold them against.",
    30,
    (
        *_of_servers("10m"),
        *_shares_of_servers(),
        *_of_servers(_STEP),
        *_of_models(),
        *_errors_of_models(),
        Recording(
            "model",
            "requests_aborted_estimate",
            f"ratio_increase{_ABORT_WINDOW}",
            "Share of requests with a first token that were given up by their clients, estimated; absent without any.",
            RATIO,
            f"vllmwatch:model:requests_aborted_estimate:increase{_ABORT_WINDOW}\n"
            f"/ ({aggregate('sum', MODEL, _WITH_A_FIRST_TOKEN)} > 0)",
        ),
    ),
)
