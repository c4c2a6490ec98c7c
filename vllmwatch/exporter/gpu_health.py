"""What is broken or breaking in a GPU, as samples."""

from collections.abc import Mapping

from vllmwatch.catalog import gpu_health as catalog
from vllmwatch.exporter.family import Families
from vllmwatch.sources.nvml.snapshot import GpuFacts, GpuReadings
from vllmwatch.sources.xid import XidTotals


def add_health(families: Families, labels: tuple[str, str, str], facts: GpuFacts | None, readings: GpuReadings) -> None:
    """Add memory errors, PCIe and NVLinks of one GPU."""
    for (kind, lifetime), count in readings.ecc_errors.items():
        families[catalog.GPU_ECC_ERRORS].add(count, *labels, kind, lifetime)
    for cause, count in readings.retired_pages.items():
        families[catalog.GPU_RETIRED_PAGES].add(count, *labels, cause)
    for kind, count in readings.remapped_rows.items():
        families[catalog.GPU_REMAPPED_ROWS].add(count, *labels, kind)
    if readings.recovery_action is not None:
        families[catalog.GPU_RECOVERY_ACTION].add(1, *labels, readings.recovery_action)
    for metric, switch in (
        (catalog.GPU_ECC_MODE, facts.ecc_mode if facts else None),
        (catalog.GPU_RETIRED_PAGES_PENDING, readings.retired_pages_pending),
        (catalog.GPU_ROW_REMAP_PENDING, readings.row_remap_pending),
        (catalog.GPU_ROW_REMAP_FAILURE, readings.row_remap_failure),
    ):
        families[metric].add(None if switch is None else int(switch), *labels)
    for metric, value in (
        (catalog.GPU_PCIE_GENERATION, readings.pcie_link_generation),
        (catalog.GPU_PCIE_GENERATION_MAX, facts.pcie_link_generation_max if facts else None),
        (catalog.GPU_PCIE_WIDTH, readings.pcie_link_width),
        (catalog.GPU_PCIE_WIDTH_MAX, facts.pcie_link_width_max if facts else None),
        (catalog.GPU_PCIE_REPLAYS, readings.pcie_replays),
    ):
        families[metric].add(value, *labels)
    _add_nvlinks(families, labels, readings)


def _add_nvlinks(families: Families, labels: tuple[str, str, str], readings: GpuReadings) -> None:
    up, errors = families[catalog.GPU_NVLINK_UP], families[catalog.GPU_NVLINK_ERRORS]
    transmit, receive = families[catalog.GPU_NVLINK_TRANSMIT], families[catalog.GPU_NVLINK_RECEIVE]
    for link in readings.nvlinks:
        number = str(link.link)
        up.add(None if link.up is None else int(link.up), *labels, number)
        transmit.add(link.transmit_bytes, *labels, number)
        receive.add(link.receive_bytes, *labels, number)
        for kind, count in link.errors.items():
            errors.add(count, *labels, number, kind)


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
