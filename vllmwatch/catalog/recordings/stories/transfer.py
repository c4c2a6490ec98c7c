"""Stories of transfer: NIXL and Mooncake, transfers that fail or expire, tiers, restarts."""

from vllmwatch.catalog.recordings.stories.words import engine_says, expect, nothing, of_engine
from vllmwatch.spec.story import Story

_TIME = "20m"
_B = "box:8001"

_NIXL = Story(
    "NIXL: of 200 transfers in ten minutes 20 fail; two jobs that scrape one server count once",
    30,
    (
        of_engine("vllm:nixl_xfer_time_seconds_count", "500+9x60"),
        of_engine("vllm:nixl_xfer_time_seconds_count", "500+9x60", job="again"),
        of_engine("vllm:nixl_num_failed_transfers_total", "7+1x60"),
        of_engine("vllm:nixl_num_kv_expired_reqs_total", "0+2x60"),
    ),
    (
        expect(_TIME, "engine:kv_transfers:increase10m", engine_says(180)),
        expect(_TIME, "engine:kv_transfers_failed:increase10m", engine_says(20)),
        expect(_TIME, "engine:kv_transfers_failed:ratio_increase10m", engine_says(0.1)),
        expect(_TIME, "engine:requests_kv_expired:increase10m", engine_says(40)),
        *nothing(_TIME, "engine:kv_offload_jobs_failed:increase10m"),
    ),
)

_MOONCAKE = Story(
    "Mooncake counts what failed on either side; an engine that begins anew has no transfers below zero",
    30,
    (
        of_engine("vllm:mooncake_xfer_time_seconds_count", "9000+8x30 0+8x30"),
        of_engine("vllm:mooncake_num_failed_transfers_total", "50+1x30 0+1x30"),
        of_engine("vllm:mooncake_num_failed_recvs_total", "50+1x30 0+1x30"),
        of_engine("vllm:mooncake_num_kv_expired_reqs_total", "3x60"),
    ),
    (
        expect("30m", "engine:kv_transfers_failed:ratio_increase10m", engine_says(0.2)),
        expect("30m", "engine:requests_kv_expired:increase10m", engine_says(0)),
    ),
)

_FRONT_END = Story(
    "a front end that shows every connector's counters at 0 transfers nothing, so there is no share",
    30,
    tuple(
        of_engine(name, "0x60")
        for name in (
            "vllm:nixl_xfer_time_seconds_count",
            "vllm:nixl_num_failed_transfers_total",
            "vllm:mooncake_xfer_time_seconds_count",
            "vllm:mooncake_num_failed_transfers_total",
            "vllm:mooncake_num_failed_recvs_total",
        )
    ),
    (
        expect(_TIME, "engine:kv_transfers:increase10m", engine_says(0)),
        *nothing(_TIME, "engine:kv_transfers_failed:ratio_increase10m"),
    ),
)

_TIERS = Story(
    "moves that failed add up over tiers and directions, engine by engine",
    30,
    (
        of_engine("vllm:kv_offload_tiering_promotion_job_failures_total", "0+1x60", tier="fs"),
        of_engine("vllm:kv_offload_tiering_promotion_job_failures_total", "0+1x60", tier="object"),
        of_engine("vllm:kv_offload_tiering_cascade_job_failures_total", "0+2x60", tier="fs"),
        of_engine("vllm:kv_offload_tiering_cascade_job_failures_total", "0x60", server=_B, tier="fs"),
    ),
    (expect(_TIME, "engine:kv_offload_jobs_failed:increase10m", engine_says(80), engine_says(0, server=_B)),),
)

STORIES: tuple[Story, ...] = (_NIXL, _MOONCAKE, _FRONT_END, _TIERS)
