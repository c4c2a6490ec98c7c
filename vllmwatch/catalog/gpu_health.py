"""Metrics about what is broken or breaking in a GPU: memory errors, links, XID events."""

from vllmwatch.catalog import gpu_labels as labels
from vllmwatch.catalog.labels import GPU, NODE, UUID
from vllmwatch.spec.metric import Metric, counter, gauge
from vllmwatch.spec.unit import BOOLEAN, BYTES, COUNT, NUMBER, TIMESTAMP

_GPU = (NODE, UUID, GPU)

GPU_ECC_MODE = gauge("gpu_ecc_mode", "Whether ECC is in force.", BOOLEAN, *_GPU)
GPU_ECC_ERRORS = counter(
    "gpu_ecc_errors_total", "Errors of memory that ECC found.", *_GPU, labels.ECC_KIND, labels.ECC_LIFETIME
)
GPU_RETIRED_PAGES = gauge(
    "gpu_retired_pages",
    "Pages of memory that were taken out of use (before Ampere).",
    COUNT,
    *_GPU,
    labels.RETIREMENT_CAUSE,
)
GPU_RETIRED_PAGES_PENDING = gauge(
    "gpu_retired_pages_pending", "Whether pages wait for a reboot to be retired.", BOOLEAN, *_GPU
)
GPU_REMAPPED_ROWS = gauge(
    "gpu_remapped_rows", "Rows of memory that were replaced by spare ones.", COUNT, *_GPU, labels.REMAP_KIND
)
GPU_ROW_REMAP_PENDING = gauge(
    "gpu_row_remap_pending", "Whether rows wait for a reset of the GPU to be remapped.", BOOLEAN, *_GPU
)
GPU_ROW_REMAP_FAILURE = gauge(
    "gpu_row_remap_failure", "Whether a row could not be remapped: the spare ones are used up.", BOOLEAN, *_GPU
)
GPU_RECOVERY_ACTION = gauge(
    "gpu_recovery_action",
    "The action that the driver asks for at present.",
    BOOLEAN,
    *_GPU,
    labels.RECOVERY_ACTION,
)

GPU_PCIE_GENERATION = gauge(
    "gpu_pcie_link_generation", "Present PCIe generation; it falls while the GPU idles.", NUMBER, *_GPU
)
GPU_PCIE_GENERATION_MAX = gauge(
    "gpu_pcie_link_generation_max", "Highest PCIe generation of the GPU in this slot.", NUMBER, *_GPU
)
GPU_PCIE_WIDTH = gauge("gpu_pcie_link_width", "Present number of PCIe lanes.", COUNT, *_GPU)
GPU_PCIE_WIDTH_MAX = gauge(
    "gpu_pcie_link_width_max", "Highest number of PCIe lanes of the GPU in this slot.", COUNT, *_GPU
)
GPU_PCIE_REPLAYS = counter("gpu_pcie_replays_total", "PCIe packets that were sent again.", *_GPU)

GPU_NVLINK_UP = gauge("gpu_nvlink_up", "Whether an NVLink is active or asleep.", BOOLEAN, *_GPU, labels.LINK)
GPU_NVLINK_TRANSMIT = counter(
    "gpu_nvlink_transmit_bytes_total", "Data sent over an NVLink.", *_GPU, labels.LINK, unit=BYTES
)
GPU_NVLINK_RECEIVE = counter(
    "gpu_nvlink_receive_bytes_total", "Data received over an NVLink.", *_GPU, labels.LINK, unit=BYTES
)
GPU_NVLINK_ERRORS = counter(
    "gpu_nvlink_errors_total", "Errors of an NVLink.", *_GPU, labels.LINK, labels.NVLINK_ERROR_KIND
)

GPU_XID_ERRORS = counter(
    "gpu_xid_errors_total",
    "XID events of a GPU since boot, or since the exporter's start where the kernel log cannot be read.",
    *_GPU,
    labels.XID,
)
GPU_XID_LAST = gauge(
    "gpu_xid_last_timestamp_seconds", "Time of the last XID event of this number.", TIMESTAMP, *_GPU, labels.XID
)
XID_UNPLACED = counter(
    "xid_unplaced_total",
    "XID events of a PCI address at which no GPU has been seen.",
    NODE,
    labels.PCI_BUS_ID,
    labels.XID,
)
XID_UNPLACED_LAST = gauge(
    "xid_unplaced_last_timestamp_seconds",
    "Time of the last XID event of this number at a PCI address at which no GPU has been seen.",
    TIMESTAMP,
    NODE,
    labels.PCI_BUS_ID,
    labels.XID,
)
XID_SOURCE_UP = gauge("xid_source_up", "Whether a source of XID events can be heard.", BOOLEAN, NODE, labels.XID_SOURCE)

HEALTH_METRICS: tuple[Metric, ...] = (
    GPU_ECC_MODE,
    GPU_ECC_ERRORS,
    GPU_RETIRED_PAGES,
    GPU_RETIRED_PAGES_PENDING,
    GPU_REMAPPED_ROWS,
    GPU_ROW_REMAP_PENDING,
    GPU_ROW_REMAP_FAILURE,
    GPU_RECOVERY_ACTION,
    GPU_PCIE_GENERATION,
    GPU_PCIE_GENERATION_MAX,
    GPU_PCIE_WIDTH,
    GPU_PCIE_WIDTH_MAX,
    GPU_PCIE_REPLAYS,
    GPU_NVLINK_UP,
    GPU_NVLINK_TRANSMIT,
    GPU_NVLINK_RECEIVE,
    GPU_NVLINK_ERRORS,
    GPU_XID_ERRORS,
    GPU_XID_LAST,
    XID_UNPLACED,
    XID_UNPLACED_LAST,
    XID_SOURCE_UP,
)
