"""Transfer: KV that moves between servers, or to tiers below the GPU, and what failed of it."""

from collections.abc import Iterable

from vllmwatch.catalog.recordings.terms import ENGINE, TIER, engine_increase
from vllmwatch.spec.metric import Label
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import REQUESTS, Group, Recording
from vllmwatch.spec.unit import COUNT, RATIO

_WINDOW = "10m"
# NIXL counts a failed handshake and a failed notification among failed transfers.
_FAILED = (
    "vllm:nixl_num_failed_transfers_total",
    "vllm:mooncake_num_failed_transfers_total",
    "vllm:mooncake_num_failed_recvs_total",
)
_DONE = ("vllm:nixl_xfer_time_seconds_count", "vllm:mooncake_xfer_time_seconds_count")
_EXPIRED = ("vllm:nixl_num_kv_expired_reqs_total", "vllm:mooncake_num_kv_expired_reqs_total")
_TIER_FAILURES = (
    "vllm:kv_offload_tiering_promotion_job_failures_total",
    "vllm:kv_offload_tiering_cascade_job_failures_total",
)


def _together(metrics: Iterable[str], *labels: Label) -> str:
    """Return the sum of the increases of several counters of an engine."""
    increases = (engine_increase(metric, window=_WINDOW, labels=labels) for metric in metrics)
    marked = (f'label_replace({each}, "counter", "{number}", "", "")' for number, each in enumerate(increases))
    return aggregate("sum", ENGINE, f"\n{either(*marked)}\n")


_NAME = f"vllmwatch:engine:{{}}:increase{_WINDOW}"

GROUP = Group(
    "transfer",
    "KV that moves between servers, or to tiers below the GPU, and what failed of it.",
    30,
    (
        Recording(
            "engine",
            "kv_transfers",
            f"increase{_WINDOW}",
            "Transfers of KV between servers that were done.",
            COUNT,
            _together(_DONE),
        ),
        Recording(
            "engine",
            "kv_transfers_failed",
            f"increase{_WINDOW}",
            "Transfers of KV between servers that failed.",
            COUNT,
            _together(_FAILED),
        ),
        Recording(
            "engine",
            "kv_transfers_failed",
            f"ratio_increase{_WINDOW}",
            "Share of transfers of KV that failed; absent without any.",
            RATIO,
            f"{_NAME.format('kv_transfers_failed')}\n"
            f"/ (({_NAME.format('kv_transfers')} + {_NAME.format('kv_transfers_failed')}) > 0)",
        ),
        Recording(
            "engine",
            "requests_kv_expired",
            f"increase{_WINDOW}",
            "Requests whose KV no server fetched in time.",
            REQUESTS,
            _together(_EXPIRED),
        ),
        Recording(
            "engine",
            "kv_offload_jobs_failed",
            f"increase{_WINDOW}",
            "Moves of KV to or from a tier below the GPU that failed.",
            COUNT,
            _together(_TIER_FAILURES, TIER),
        ),
    ),
)
