"""KV transfer between servers: NIXL, Mooncake, HF3FS, UMBP."""

from vllmwatch.catalog.vllm.declare import counter, gauge, histogram, name
from vllmwatch.spec.upstream import UpstreamMetric

METRICS: tuple[UpstreamMetric, ...] = (
    gauge(
        name("vllm:num_requests_kv_fetch_by_stage", "0.32.0"),
        says="Requests that fetch their KV from elsewhere, by stage.",
        unit="requests",
        labels=("stage",),
        condition="a KV connector that consumes",
    ),
    histogram(
        name("vllm:nixl_xfer_time_seconds", "0.11.1"),
        says="Time of a transfer.",
        unit="seconds",
        condition="the NIXL connector",
    ),
    histogram(
        name("vllm:nixl_post_time_seconds", "0.11.1"),
        says="Time to post a transfer.",
        unit="seconds",
        condition="the NIXL connector",
    ),
    histogram(
        name("vllm:nixl_bytes_transferred", "0.11.1"),
        says="Size of a transfer.",
        unit="bytes",
        condition="the NIXL connector",
    ),
    histogram(
        name("vllm:nixl_num_descriptors", "0.11.1"),
        says="Descriptors of a transfer.",
        unit="descriptors",
        condition="the NIXL connector",
    ),
    counter(
        name("vllm:nixl_num_failed_transfers_total", "0.11.1"),
        says="Transfers, handshakes and notifications that failed.",
        unit="transfers",
        condition="the NIXL connector",
    ),
    counter(
        name("vllm:nixl_num_failed_notifications_total", "0.11.1"),
        says="Notifications that failed.",
        unit="notifications",
        condition="the NIXL connector",
    ),
    counter(
        name("vllm:nixl_num_kv_expired_reqs_total", "0.15.0"),
        says="Requests whose KV expired before it was fetched.",
        unit="requests",
        condition="the NIXL connector",
    ),
    counter(
        name("vllm:nixl_num_notifications_after_expiry_total", "0.32.0"),
        says="Notifications that came after their KV had expired.",
        unit="notifications",
        condition="the NIXL connector",
    ),
    histogram(
        name("vllm:mooncake_xfer_time_seconds", "0.33.0"),
        says="Time of a transfer.",
        unit="seconds",
        condition="the Mooncake connector",
    ),
    histogram(
        name("vllm:mooncake_bytes_transferred", "0.33.0"),
        says="Size of a transfer.",
        unit="bytes",
        condition="the Mooncake connector",
    ),
    histogram(
        name("vllm:mooncake_num_descriptors", "0.33.0"),
        says="Descriptors of a transfer.",
        unit="descriptors",
        condition="the Mooncake connector",
    ),
    counter(
        name("vllm:mooncake_num_failed_transfers_total", "0.33.0"),
        says="Transfers that failed.",
        unit="transfers",
        condition="the Mooncake connector",
    ),
    counter(
        name("vllm:mooncake_num_failed_recvs_total", "0.33.0"),
        says="Receives that failed.",
        unit="transfers",
        condition="the Mooncake connector",
    ),
    counter(
        name("vllm:mooncake_num_kv_expired_reqs_total", "0.33.0"),
        says="Requests whose KV expired before it was fetched.",
        unit="requests",
        condition="the Mooncake connector",
    ),
    histogram(
        name("vllm:mooncake_store_operation_time_seconds", "0.22.0"),
        says="Time of an operation on the store.",
        unit="seconds",
        labels=(
            "operation",
            "status",
        ),
        condition="the Mooncake store",
    ),
    counter(
        name("vllm:mooncake_store_operation_total", "0.22.0"),
        says="Operations on the store.",
        unit="operations",
        labels=(
            "operation",
            "status",
        ),
        condition="the Mooncake store",
    ),
    counter(
        name("vllm:mooncake_store_operation_keys_total", "0.22.0"),
        says="Keys in operations on the store.",
        unit="keys",
        labels=(
            "operation",
            "status",
        ),
        condition="the Mooncake store",
    ),
    counter(
        name("vllm:mooncake_store_operation_bytes_total", "0.22.0"),
        says="Bytes in operations on the store.",
        unit="bytes",
        labels=(
            "operation",
            "status",
        ),
        condition="the Mooncake store",
    ),
    counter(
        name("vllm:mooncake_store_operation_failed_keys_total", "0.22.0"),
        says="Keys that failed in operations on the store.",
        unit="keys",
        labels=(
            "operation",
            "status",
        ),
        condition="the Mooncake store",
    ),
    histogram(
        name("vllm:hf3fs_save_duration_seconds", "0.20.0"),
        says="Time of a save.",
        unit="seconds",
        condition="the HF3FS connector",
    ),
    histogram(
        name("vllm:hf3fs_load_duration_seconds", "0.20.0"),
        says="Time of a load.",
        unit="seconds",
        condition="the HF3FS connector",
    ),
    counter(
        name("vllm:hf3fs_num_failed_save_total", "0.20.0"),
        says="Saves that failed.",
        unit="saves",
        condition="the HF3FS connector",
    ),
    counter(
        name("vllm:hf3fs_num_failed_load_total", "0.20.0"),
        says="Loads that failed.",
        unit="loads",
        condition="the HF3FS connector",
    ),
    counter(
        name("vllm:umbp_transfer_submitted_total", "0.33.0"),
        says="Transfers submitted.",
        unit="transfers",
        labels=("operation",),
        condition="the UMBP connector",
    ),
    counter(
        name("vllm:umbp_transfer_completed_total", "0.33.0"),
        says="Transfers completed.",
        unit="transfers",
        labels=("operation",),
        condition="the UMBP connector",
    ),
    counter(
        name("vllm:umbp_transfer_failed_total", "0.33.0"),
        says="Transfers that failed.",
        unit="transfers",
        labels=("operation",),
        condition="the UMBP connector",
    ),
    counter(
        name("vllm:umbp_transfer_bytes_total", "0.33.0"),
        says="Bytes transferred.",
        unit="bytes",
        labels=("operation",),
        condition="the UMBP connector",
    ),
)
