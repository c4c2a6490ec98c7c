"""Traffic: requests, tokens, what comes from caches, and what goes wrong."""

from vllmwatch.catalog.recordings.terms import ENGINE as ENGINE_LABELS
from vllmwatch.catalog.recordings.terms import (
    FINISHED_REASON,
    ON_ENGINE,
    ON_WHO,
    RUNNING,
    SERVER,
    SERVER_INFO,
    WHO,
    engine_increase,
    engine_rate,
    of_engine,
    rolled_up,
    shares,
    upstream,
)
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import REQUESTS, REQUESTS_PER_SECOND, TOKENS_PER_SECOND, Group, Recording
from vllmwatch.spec.unit import RATIO

_SUCCESS = "vllm:request_success_total"
_FIRST_TOKEN = "vllm:time_to_first_token_seconds_count"  # noqa: S105  # a name of a metric
_CACHED = engine_rate("vllm:prompt_tokens_cached_total")
_PROMPT = engine_rate("vllm:prompt_tokens_total")
_ABORT_WINDOW = "15m"


def _requests(figure: str, help_text: str, expression: str) -> tuple[Recording, ...]:
    return rolled_up(Recording("engine", figure, "rate5m", help_text, REQUESTS_PER_SECOND, expression))


def _tokens(figure: str, help_text: str, expression: str) -> tuple[Recording, ...]:
    return rolled_up(Recording("engine", figure, "rate5m", help_text, TOKENS_PER_SECOND, expression))


def _of_server(figure: str, help_text: str, expression: str) -> tuple[Recording, ...]:
    return rolled_up(Recording("server", figure, "rate5m", help_text, REQUESTS_PER_SECOND, expression))


def _finished(*matchers: str) -> str:
    each = engine_increase(_SUCCESS, *matchers, window=_ABORT_WINDOW, labels=(FINISHED_REASON,))
    return aggregate("sum", ENGINE_LABELS, each)


def _http(*matchers: str) -> str:
    """Return HTTP requests a second of a server, each series counted once."""
    each = (*WHO, "handler", "method", "status")
    rate = f"rate({upstream('http_requests_total', *matchers, window='5m')})"
    return aggregate("sum", WHO, aggregate("max", each, rate))


_REJECTIONS = aggregate(
    "sum",
    SERVER,
    aggregate("max", (*SERVER, "reason"), f"rate({upstream('vllm:admission_rejections_total', window='5m')})"),
)
_HTTP_5XX = _http('status=~"5.."')
_WITH_A_FIRST_TOKEN = engine_increase(_FIRST_TOKEN, window=_ABORT_WINDOW)
_RUNNING_CHANGE = of_engine(f"delta({upstream(RUNNING, window=_ABORT_WINDOW)})")
_COUNTED_ABORTS = _finished('finished_reason="abort"')
# Front ends that count aborted requests have them among the finished ones; the others count them nowhere.
_ABORTED = (
    f"(\nclamp_min(\n{_WITH_A_FIRST_TOKEN}\n"
    f"- ({_finished()} or 0 * {_WITH_A_FIRST_TOKEN})\n"
    f"- {_RUNNING_CHANGE},\n0)\n"
    f"+ ({_COUNTED_ABORTS} or 0 * {_WITH_A_FIRST_TOKEN})\n)\n"
    f"and {ON_ENGINE} ({of_engine(upstream(_FIRST_TOKEN))} > 0)"
)

_ENGINES_AND_ABOVE: tuple[Recording, ...] = (
    *rolled_up(
        Recording(
            "engine",
            "requests_finished",
            "rate5m",
            "Requests that ended, by how.",
            REQUESTS_PER_SECOND,
            engine_rate(_SUCCESS, labels=(FINISHED_REASON,)),
            (FINISHED_REASON,),
        )
    ),
    *_requests("requests_with_first_token", "Requests that got their first token.", engine_rate(_FIRST_TOKEN)),
    *_tokens("prompt_tokens", "Prompt tokens, cached ones included.", _PROMPT),
    *_tokens("generation_tokens", "Tokens generated.", engine_rate("vllm:generation_tokens_total")),
    *_tokens(
        "tokens",
        "Prompt tokens, cached ones included, and tokens generated.",
        "vllmwatch:engine:prompt_tokens:rate5m + vllmwatch:engine:generation_tokens:rate5m",
    ),
    *_tokens(
        "computed_prompt_tokens",
        "Prompt tokens that were computed; before vLLM 0.16, prompt tokens less those found in the prefix cache.",
        either(
            engine_rate("vllm:prompt_tokens_by_source_total", 'source="local_compute"'),
            f"clamp_min({_PROMPT} - {engine_rate('vllm:prefix_cache_hits_total')}, 0)",
        ),
    ),
    *_tokens(
        "cached_prompt_tokens",
        "Prompt tokens that came from a cache; before vLLM 0.16, tokens found in the prefix cache.",
        either(_CACHED, engine_rate("vllm:prefix_cache_hits_total")),
    ),
    *_tokens(
        "cacheable_prompt_tokens",
        "What the cached tokens are a share of: prompt tokens; before vLLM 0.16, tokens looked up in the prefix cache.",
        either(f"{_PROMPT} and {_CACHED}", engine_rate("vllm:prefix_cache_queries_total")),
    ),
    *shares(
        "vllmwatch:{level}:cached_prompt_tokens:rate5m",
        "vllmwatch:{level}:cacheable_prompt_tokens:rate5m",
        "cached_prompt_tokens",
        "ratio_rate5m",
        "Share of prompt tokens that came from a cache; absent without prompts.",
        RATIO,
    ),
    *_requests(
        "requests_failed",
        "Requests that ended with an error within the engine.",
        engine_rate(_SUCCESS, 'finished_reason="error"'),
    ),
    *(
        Recording(
            level,
            "requests_failed",
            "ratio_rate5m",
            "Share of requests that ended with an error among all that ended; absent where none ended.",
            RATIO,
            f"vllmwatch:{level}:requests_failed:rate5m / "
            f"({aggregate('sum', labels, f'vllmwatch:{level}:requests_finished:rate5m')} > 0)",
        )
        for level, labels in (("engine", ENGINE_LABELS), ("server", SERVER), ("model", ("model_name",)))
    ),
    *rolled_up(
        Recording(
            "engine",
            "requests_aborted_estimate",
            f"increase{_ABORT_WINDOW}",
            "Requests given up by their clients, estimated: those with a first token that neither ended nor run.",
            REQUESTS,
            _ABORTED,
        )
    ),
)
_SERVERS_AND_ABOVE: tuple[Recording, ...] = (
    *_of_server("requests_rejected", "Requests refused with 503 since the queue was at its limit.", _REJECTIONS),
    *_of_server(
        "http_requests",
        "HTTP requests answered.",
        f"{SERVER_INFO} * {ON_WHO} group_left () {_http()}",
    ),
    *_of_server(
        "http_errors",
        "HTTP requests answered with 5xx, less those refused since the queue was at its limit.",
        f"clamp_min(\n{SERVER_INFO} * {ON_WHO} group_left () ({_HTTP_5XX} or 0 * {_http()})\n"
        f"- (vllmwatch:server:requests_rejected:rate5m or 0 * {SERVER_INFO}),\n0)",
    ),
    *(
        Recording(
            level,
            "http_errors",
            "ratio_rate5m",
            "Share of HTTP requests that ended in an error; absent without requests.",
            RATIO,
            f"vllmwatch:{level}:http_errors:rate5m / (vllmwatch:{level}:http_requests:rate5m > 0)",
        )
        for level in ("server", "model")
    ),
)

GROUP = Group(
    "traffic",
    "Requests, tokens, what comes from caches, and what goes wrong.",
    15,
    (*_ENGINES_AND_ABOVE, *_SERVERS_AND_ABOVE),
)
