"""The join: which GPU carries which engine, who holds a GPU's memory, and what engines and cards can do at most."""

from vllmwatch.catalog.labels import ENGINE, GPU, NODE, SERVER, UUID
from vllmwatch.spec.join import HOLDER_MEANINGS, UNMAPPED_MEANINGS
from vllmwatch.spec.metric import Label, Metric, gauge
from vllmwatch.spec.unit import BOOLEAN, BYTES, BYTES_PER_SECOND, COUNT, FLOPS, INFO, PRICE

RANK = Label(
    "rank",
    "The worker's place within its engine as vLLM's process titles name it (TP0, PP1_TP0); empty where unknown.",
)
DEVICE_UUID = Label("uuid", "The UUID of the GPU or MIG instance that the worker runs on.")
DEVICE_GPU = Label("gpu", "The index, for people, of the GPU that the worker runs on, whole or in part.")
DEVICE_PARENT = Label("parent_uuid", "The UUID of the GPU that the MIG instance is cut from; empty for a whole GPU.")
HOLDER = Label("holder", "Who holds the memory.", HOLDER_MEANINGS)
HELD_BY = Label("server", "The server that holds the memory; empty where `holder` is not `server`.")
UNMAPPED_REASON = Label("reason", "Why it is not known who uses the GPU, or what for.", UNMAPPED_MEANINGS)
BASIS = Label(
    "basis",
    "Where the size comes from.",
    {
        "reported": "vLLM states it in tokens",
        "blocks": "an estimate: blocks times tokens a block, which is wrong for models with several kinds of layers",
    },
)
DATA_TYPE = Label(
    "data_type",
    "The data type of the matrix products that the peak is for, without sparsity.",
    {"bf16": "16 bits (bfloat16 and float16)", "fp8": "8-bit floating point"},
)

ENGINE_GPU_INFO = gauge(
    "engine_gpu_info",
    "A GPU or MIG instance that carries a worker of an engine; stays for an hour when the GPU is lost.",
    INFO,
    NODE,
    SERVER,
    ENGINE,
    RANK,
    DEVICE_UUID,
    DEVICE_GPU,
    DEVICE_PARENT,
)
GPU_UNMAPPED = gauge(
    "gpu_unmapped",
    "The GPU is in use and it is not known by whom, or not by a server that serves; one series a reason.",
    BOOLEAN,
    NODE,
    UUID,
    GPU,
    UNMAPPED_REASON,
)
GPU_HELD_MEMORY = gauge(
    "gpu_held_memory_bytes",
    "Memory of the GPU by who holds it, as the driver counts the memory of processes.",
    BYTES,
    NODE,
    UUID,
    GPU,
    HOLDER,
    HELD_BY,
)
ENGINE_KV_CACHE_SIZE = gauge(
    "engine_kv_cache_size_tokens",
    "Tokens that the engine's KV cache holds at most.",
    COUNT,
    NODE,
    SERVER,
    ENGINE,
    BASIS,
)
GPU_PEAK_FLOPS = gauge(
    "gpu_peak_flops",
    "Floating-point operations a second that the card can do at most; absent for a card that is not in the table.",
    FLOPS,
    NODE,
    UUID,
    GPU,
    DATA_TYPE,
)
GPU_PEAK_MEMORY_BANDWIDTH = gauge(
    "gpu_peak_memory_bandwidth_bytes_per_second",
    "Bytes a second that the card's memory can move at most; absent for a card that is not in the table.",
    BYTES_PER_SECOND,
    NODE,
    UUID,
    GPU,
)
PRICE_GPU_HOUR = gauge(
    "price_per_gpu_hour", "What a GPU costs an hour, by the setting; absent where it is not set.", PRICE, NODE
)
PRICE_KILOWATT_HOUR = gauge(
    "price_per_kilowatt_hour",
    "What a kilowatt-hour costs, by the setting; absent where it is not set.",
    PRICE,
    NODE,
)

METRICS: tuple[Metric, ...] = (
    ENGINE_GPU_INFO,
    GPU_UNMAPPED,
    GPU_HELD_MEMORY,
    ENGINE_KV_CACHE_SIZE,
    GPU_PEAK_FLOPS,
    GPU_PEAK_MEMORY_BANDWIDTH,
    PRICE_GPU_HOUR,
    PRICE_KILOWATT_HOUR,
)
