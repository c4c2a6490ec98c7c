"""Saturation: the KV cache, the room left in it and for how long, the queue, preemptions."""

from vllmwatch.catalog.joined import BASIS, ENGINE_KV_CACHE_SIZE
from vllmwatch.catalog.recordings.terms import (
    ENGINE_OF,
    ON_ENGINE,
    RUNNING,
    SERVER,
    engine_rate,
    of_engine,
    own,
    rolled_up,
    upstream,
)
from vllmwatch.spec.promql import aggregate, labels_text
from vllmwatch.spec.recording import EVENTS_PER_SECOND, REQUESTS, REQUESTS_PER_SECOND, TOKENS, Group, Recording
from vllmwatch.spec.unit import RATIO, SECONDS

_USAGE = "vllm:kv_cache_usage_perc"
_WAITING = "vllm:num_requests_waiting"
KV_USAGE = "vllmwatch:engine:kv_cache_usage_ratio:max"
_TREND = "10m"
# Below it a cache that fills is a server that starts to work.
_FULL_ENOUGH = 0.5
_USAGE_SLOPE = of_engine(f"deriv({upstream(_USAGE, window=_TREND)})")

_KV = Recording(
    "engine", "kv_cache_usage_ratio", "max", "Share of the KV cache in use.", RATIO, of_engine(upstream(_USAGE))
)
_HEADROOM = Recording(
    "engine",
    "kv_cache_headroom_tokens",
    "now",
    "Tokens for which there is room in the KV cache; `basis` says whether its size is reported or an estimate.",
    TOKENS,
    f"{aggregate('max', (*ENGINE_OF, BASIS.name), own(ENGINE_KV_CACHE_SIZE))}\n"
    f"* on ({labels_text(ENGINE_OF)}) group_left (model_name)\n(1 - {KV_USAGE})",
    (BASIS,),
)
_EXHAUSTION = Recording(
    "engine",
    "kv_cache_exhaustion_seconds",
    f"slope{_TREND}",
    "Time until the KV cache is full if it goes on filling as in the last 10 minutes; "
    "absent while it does not fill or is no more than half full.",
    SECONDS,
    f"(1 - ({KV_USAGE} > {_FULL_ENOUGH}))\n/ {ON_ENGINE} ({_USAGE_SLOPE} > 0)",
)

GROUP = Group(
    "saturation",
    "The KV cache, the room left in it and for how long, the queue, preemptions.",
    30,
    (
        *rolled_up(_KV, "max"),
        *rolled_up(_HEADROOM, "sum"),
        _EXHAUSTION,
        Recording(
            "server",
            _EXHAUSTION.figure,
            _EXHAUSTION.how,
            "The same of the engine whose KV cache is full first.",
            SECONDS,
            aggregate("min", SERVER, _EXHAUSTION.name),
        ),
        *rolled_up(
            Recording(
                "engine", "requests_running", "max", "Requests that run.", REQUESTS, of_engine(upstream(RUNNING))
            ),
            how="sum",
        ),
        *rolled_up(
            Recording(
                "engine", "requests_waiting", "max", "Requests that wait.", REQUESTS, of_engine(upstream(_WAITING))
            ),
            how="sum",
        ),
        *rolled_up(
            Recording(
                "engine",
                "requests_waiting",
                f"slope{_TREND}",
                "Requests a second by which the queue grows; negative while it shrinks.",
                REQUESTS_PER_SECOND,
                of_engine(f"deriv({upstream(_WAITING, window=_TREND)})"),
            )
        ),
        *rolled_up(
            Recording(
                "engine",
                "preemptions",
                "rate5m",
                "Requests put back to waiting for want of KV cache.",
                EVENTS_PER_SECOND,
                engine_rate("vllm:num_preemptions_total"),
            )
        ),
    ),
)
