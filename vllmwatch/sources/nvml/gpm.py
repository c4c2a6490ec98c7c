"""GPU performance monitoring: on Hopper and later, the only source of a MIG instance's utilization.

Each figure is the mean between two samples, so the first look gives none.
"""

import ctypes
from collections.abc import Collection
from typing import Any

from vllmwatch.sources.nvml.library import Device, Reading, pynvml


class _Metric(ctypes.Structure):
    """nvmlGpmMetric_t."""

    _fields_ = [
        ("metricId", ctypes.c_uint),
        ("nvmlReturn", ctypes.c_int),
        ("value", ctypes.c_double),
        ("names", ctypes.c_void_p * 3),
    ]


class _Request(ctypes.Structure):
    """nvmlGpmMetricsGet_t, with room for more metrics than nvml.h 13 has (477)."""

    _fields_ = [
        ("version", ctypes.c_uint),
        ("numMetrics", ctypes.c_uint),
        ("sample1", ctypes.c_void_p),
        ("sample2", ctypes.c_void_p),
        ("metrics", _Metric * 512),
    ]


class GpuInstanceUtilization:
    """The share of time in which the engines of a GPU instance were busy, since the look before."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._supported: bool | None = None
        self._samples: dict[int, Any] = {}
        self._request = _Request(version=pynvml.NVML_GPM_METRICS_GET_VERSION, numMetrics=1)

    def percent(self, gpu_instance: int) -> float | None:
        """Take a sample and return the percentage since the last, or None; raise when the GPU is lost."""
        if not self._is_supported():
            return None
        sample = ctypes.c_void_p()
        if not self._reading("nvmlGpmSampleAlloc", ctypes.byref(sample)).read():
            return None
        take = self._device.reading("nvmlGpmMigSampleGet", ctypes.c_uint(gpu_instance), sample)
        if not take.read():
            self._free(sample)
            return None
        before = self._samples.get(gpu_instance)
        self._samples[gpu_instance] = sample
        if before is None:
            return None
        try:
            return self._between(before, sample)
        finally:
            self._free(before)

    def forget_others(self, gpu_instances: Collection[int | None]) -> None:
        """Free the samples of all instances but these."""
        for gone in [instance for instance in self._samples if instance not in gpu_instances]:
            self._free(self._samples.pop(gone))

    def _is_supported(self) -> bool:
        if self._supported is None:
            support: Any = pynvml.c_nvmlGpmSupport_t()
            support.version = pynvml.NVML_GPM_SUPPORT_VERSION
            asked = self._device.reading("nvmlGpmQueryDeviceSupport", ctypes.byref(support)).read()
            self._supported = bool(asked and support.isSupportedDevice)
        return self._supported

    def _between(self, before: Any, after: Any) -> float | None:
        request, metric = self._request, self._request.metrics[0]
        request.sample1, request.sample2 = before, after
        metric.metricId = pynvml.NVML_GPM_METRIC_GRAPHICS_UTIL
        if not self._reading("nvmlGpmMetricsGet", ctypes.byref(request)).read() or metric.nvmlReturn != 0:
            return None
        return float(metric.value)

    def _free(self, sample: Any) -> None:
        self._reading("nvmlGpmSampleFree", sample).code()

    def _reading(self, name: str, *arguments: Any) -> Reading:
        return Reading(self._device.library.function(name), f"{name} for {self._device.label}", *arguments)
