"""What NVML says of the GPUs of this host, as frozen snapshots in base units."""

from vllmwatch.sources.nvml.reader import NvmlReader
from vllmwatch.sources.nvml.snapshot import GpuSnapshot, NvmlSnapshot

__all__ = ["GpuSnapshot", "NvmlReader", "NvmlSnapshot"]
