"""Two compute instances that share one GPU instance."""

import pytest

from tests.fake_nvml.plugin import Calls, Host
from tests.fake_nvml.presets import mig_host
from vllmwatch.sources.nvml.reader import NvmlReader

pytestmark = pytest.mark.fake_nvml


def test_their_gpu_instance_is_sampled_once_a_look(nvml_host: Host, nvml_calls: Calls) -> None:
    lines = dict(mig_host())
    lines |= {"gpu.0.mig.1.nvmlDeviceGetGpuInstanceId": "2", "gpu.0.mig.1.nvmlDeviceGetComputeInstanceId": "1"}
    nvml_host(lines)
    reader = NvmlReader()
    try:
        reader.snapshot()
        nvml_calls.forget()
        (gpu,) = reader.snapshot().gpus
        assert nvml_calls.count("nvmlGpmMigSampleGet") == 1
        assert [instance.compute_instance for instance in gpu.mig_instances] == [0, 1]
        assert [instance.utilization_ratio for instance in gpu.mig_instances] == [0.63, 0.63]
    finally:
        reader.close()
