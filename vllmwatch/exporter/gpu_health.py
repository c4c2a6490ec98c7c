"""What is broken or breaking in a GPU, as samples."""

from collections.abc import Mapping

from vllmwatch.catalog import gpu_health as catalog
from vllmwatch.exporter.family import Families, Row
from vllmwatch.sources.nvml.snapshot import GpuFacts, GpuReadings
from vllmwatch.sources.xid import XidTotals

_READINGS = Row(
    {
        catalog.GPU_RETIRED_PAGES_PENDING: "retired_pages_pending",
        catalog.GPU_ROW_REMAP_PENDING: "row_remap_pending",
        catalog.GPU_ROW_REMAP_FAILURE: "row_remap_failure",
        catalog.GPU_PCIE_GENERATION: "pcie_link_generation",
        catalog.GPU_PCIE_WIDTH: "pcie_link_width",
        catalog.GPU_PCIE_REPLAYS: "pcie_replays",
    }
)
_FACTS = Row(
    {
        catalog.GPU_ECC_MODE: "ecc_mode",
        catalog.GPU_PCIE_GENERATION_MAX: "pcie_link_generation_max",
        catalog.GPU_PCIE_WIDTH_MAX: "pcie_link_width_max",
    }
)


def add_health(families: Families, labels: tuple[str, str, str], facts: GpuFacts | None, readings: GpuReadings) -> None:
    """Add memory errors, PCIe and NVLinks of one GPU."""
    families.add_row(_READINGS, readings, *labels)
    if facts is not None:
        families.add_row(_FACTS, facts, *labels)
    families[catalog.GPU_ECC_ERRORS].add_each(readings.ecc_errors, *labels)
    families[catalog.GPU_RETIRED_PAGES].add_each(readings.retired_pages, *labels)
    families[catalog.GPU_REMAPPED_ROWS].add_each(readings.remapped_rows, *labels)
    if readings.recovery_action is not None:
        families[catalog.GPU_RECOVERY_ACTION].add(1, *labels, readings.recovery_action)
    links = readings.nvlinks
    families[catalog.GPU_NVLINK_UP].add_each(links.up, *labels)
    families[catalog.GPU_NVLINK_TRANSMIT].add_each(links.transmit_bytes, *labels)
    families[catalog.GPU_NVLINK_RECEIVE].add_each(links.receive_bytes, *labels)
    families[catalog.GPU_NVLINK_ERRORS].add_each(links.errors, *labels)


def add_xids(families: Families, xids: XidTotals, index_of: Mapping[str, str], node: str) -> None:
    """Add the XID events so far; a GPU that NVML has never shown has an empty index."""
    for uuid, by_code in xids.by_uuid.items():
        for xid, total in by_code.items():
            labels = (node, uuid, index_of.get(uuid, ""), str(xid))
            families[catalog.GPU_XID_ERRORS].add(total.count, *labels)
            families[catalog.GPU_XID_LAST].add(total.last_timestamp_seconds, *labels)
    for pci_bus_id, by_code in xids.unplaced.items():
        for xid, total in by_code.items():
            families[catalog.XID_UNPLACED].add(total.count, node, pci_bus_id, str(xid))
            families[catalog.XID_UNPLACED_LAST].add(total.last_timestamp_seconds, node, pci_bus_id, str(xid))
    for source, listening in xids.listening.items():
        families[catalog.XID_SOURCE_UP].add(int(listening), node, source)
