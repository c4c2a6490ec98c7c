"""Health: engines that are stuck, restarts, servers of a model that differ, GPUs that serve nobody."""

from vllmwatch.catalog.exporter import TARGET_INFO, TARGET_LAST_SUCCESS, TARGET_UP
from vllmwatch.catalog.recordings.terms import (
    ENGINE_OF,
    MODEL,
    ON_ENGINE,
    ON_WHO,
    RUNNING,
    SERVER,
    SERVER_INFO,
    WHO,
    engine_increase,
    of_engine,
    own,
    rolled_up,
    upstream,
)
from vllmwatch.spec.promql import aggregate, either, labels_text
from vllmwatch.spec.recording import GPUS, REQUESTS, Group, Recording
from vllmwatch.spec.unit import COUNT, SECONDS

_STUCK = "2m"
_UNUSED = "30m"
_REMEMBERED = "6h"
# What must be the same on all servers of a model; the size of the KV cache follows from the card.
CONFIGURATION: tuple[str, ...] = ("block_size", "cache_dtype", "enable_prefix_caching", "gpu_memory_utilization")
_UP = f"({aggregate('max', WHO, own(TARGET_UP))} == 1)"

# A metric that an older vLLM lacks is no sign of life, and none of its absence.
_SIGNS_OF_LIFE = "\nor\n".join(
    f"({engine_increase(metric, window=_STUCK)} > 0)"
    for metric in ("vllm:iteration_tokens_total_count", "vllm:prompt_tokens_total", "vllm:request_success_total")
)
_ASLEEP = of_engine(upstream("vllm:engine_sleep_state", 'sleep_state="awake"'))
_KV_CHANGES = of_engine(f"changes({upstream('vllm:kv_cache_usage_perc', window=_STUCK)})")
_STUCK_REQUESTS = (
    f"({of_engine(f'min_over_time({upstream(RUNNING, window=_STUCK)})')} > 0)\n"
    f"and {ON_ENGINE} ({of_engine(f'{upstream(RUNNING)} offset {_STUCK}')} > 0)\n"
    f"and {ON_ENGINE} ({engine_increase('vllm:generation_tokens_total', window=_STUCK)} == 0)\n"
    f"and {ON_ENGINE} ({_KV_CHANGES} == 0)\n"
    f"and {ON_WHO} ({aggregate('max', WHO, f'min_over_time({own(TARGET_UP, window=_STUCK)})')} == 1)\n"
    f"unless {ON_ENGINE} (\n{_SIGNS_OF_LIFE}\n)\n"
    f"unless {ON_ENGINE} ({_ASLEEP} == 0)"
)
_WAITING = "vllm:num_requests_waiting"
# A request that is done in one step, as all of a pooling model are, never counts as running: steps tell, not that.
_STALLED_REQUESTS = (
    f"({of_engine(f'min_over_time({upstream(_WAITING, window=_STUCK)})')} > 0)\n"
    f"and {ON_ENGINE} ({of_engine(f'{upstream(_WAITING)} offset {_STUCK}')} > 0)\n"
    f"and {ON_ENGINE} ({of_engine(f'max_over_time({upstream(RUNNING, window=_STUCK)})')} == 0)\n"
    f"unless {ON_ENGINE} (\n{_SIGNS_OF_LIFE}\n)"
)
# What Prometheus remembers stands in where an exporter that began anew, or a direct scrape, knows no more.
_LAST_MODEL = f"topk by ({labels_text(WHO)}) (1, max_over_time(timestamp({SERVER_INFO})[{_REMEMBERED}:1m]))"
_LAST_UP = (
    f"{aggregate('group', SERVER, f'{SERVER_INFO} or {_LAST_MODEL} unless {ON_WHO} {SERVER_INFO}')}\n"
    f"* {ON_WHO} group_left () (\n"
    + either(
        aggregate("max", WHO, own(TARGET_LAST_SUCCESS)),
        aggregate("max", WHO, f"max_over_time(timestamp({own(TARGET_UP)} == 1)[{_REMEMBERED}:1m])"),
    )
    + "\n)"
)
_VERSIONS = aggregate(
    "group",
    (*WHO, "model_name", "version"),
    own(TARGET_INFO, 'role="server"', 'model_name!=""', 'version!=""'),
)
_CONFIGURATIONS = aggregate("group", (*ENGINE_OF, *CONFIGURATION), upstream("vllm:cache_config_info"))
_STARTS = aggregate("max", WHO, f"changes({upstream('process_start_time_seconds', window='1h')})")
_RESETS = aggregate("max", WHO, f"resets({upstream('vllm:prompt_tokens_total', window='1h')})")


def _nothing(metric: str) -> str:
    """Return the servers none of whose engines counted anything for the whole time."""
    increase = f"increase({upstream(metric, window=_UNUSED)})"
    return f"({aggregate('max', WHO, increase)} == 0)"


_UNUSED_GPUS = (
    "vllmwatch:server:held_gpus:sum\n"
    f"and {ON_WHO} ({aggregate('max', WHO, f'max_over_time({upstream(RUNNING, window=_UNUSED)})')} == 0)\n"
    f"and {ON_WHO} {aggregate('max', WHO, f'{upstream(RUNNING)} offset {_UNUSED}')}\n"
    f"and {ON_WHO} {_nothing('vllm:prompt_tokens_total')}\n"
    f"and {ON_WHO} {_nothing('vllm:generation_tokens_total')}"
)

GROUP = Group(
    "health",
    "Engines that are stuck, restarts, servers of a model that differ, GPUs that serve nobody.",
    30,
    (
        Recording(
            "engine",
            "requests_stuck",
            f"min{_STUCK}",
            "Requests of an engine that for 2 minutes made no step and no token and whose KV cache stood still.",
            REQUESTS,
            _STUCK_REQUESTS,
        ),
        Recording(
            "engine",
            "requests_stalled",
            f"min{_STUCK}",
            "Requests that waited for 2 minutes on an engine that ran none and made no step.",
            REQUESTS,
            _STALLED_REQUESTS,
        ),
        Recording(
            "server",
            "last_up_timestamp_seconds",
            f"last{_REMEMBERED}",
            "When a server last gave its page, with the model that it served then; by the memory of Prometheus, "
            "of 6 hours, where the exporter does not know.",
            SECONDS,
            _LAST_UP,
        ),
        *rolled_up(
            Recording(
                "server",
                "restarts",
                "increase1h",
                "Restarts of a server, by its start time, or else by counters of an engine that began anew.",
                COUNT,
                f"{SERVER_INFO} * {ON_WHO} group_left () (\n{either(_STARTS, _RESETS)}\n)",
            )
        ),
        Recording(
            "model",
            "versions",
            "count",
            "Versions of vLLM among the servers of a model that are up.",
            COUNT,
            aggregate("count", MODEL, aggregate("group", (*MODEL, "version"), f"{_VERSIONS} and {ON_WHO} {_UP}")),
        ),
        Recording(
            "model",
            "cache_configurations",
            "count",
            f"Different cache configurations ({', '.join(CONFIGURATION)}) among the servers of a model.",
            COUNT,
            aggregate(
                "count",
                MODEL,
                aggregate(
                    "group",
                    (*MODEL, *CONFIGURATION),
                    f"\n{_CONFIGURATIONS} * {ON_WHO} group_left (model_name) {SERVER_INFO}\n",
                ),
            ),
        ),
        Recording(
            "server",
            "unused_gpus",
            f"sum{_UNUSED}",
            "GPUs held by a server that served nothing for 30 minutes, shared ones in part.",
            GPUS,
            _UNUSED_GPUS,
        ),
        Recording(
            "node",
            "unused_gpus",
            f"sum{_UNUSED}",
            "GPUs held by the servers of a node that served nothing for 30 minutes.",
            GPUS,
            aggregate("sum", ("node",), f"vllmwatch:server:unused_gpus:sum{_UNUSED}"),
        ),
    ),
)
