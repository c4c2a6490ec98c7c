"""Two compute instances that share one GPU instance."""

import pytest

from tests.fake_nvml.plugin import Calls, Host
from tests.fake_nvml.presets import shared_mig_host
from vllmwatch.sources.nvml.reader import NvmlReader

pytestmark = pytest.mark.fake_nvml


def test_their_gpu_instance_is_sampled_once_a_look(nvml_host: Host, nvml_calls: Calls) -> None:
    nvml_host(shared_mig_host())
    reader = NvmlReader()
    try:
        reader.snapshot()
        nvml_calls.forget()
        (gpu,) = reader.snapshot().gpus
        assert nvml_calls.count("nvmlGpmMigSampleGet") == 2
        numbers = [(instance.gpu_instance, instance.compute_instance) for instance in gpu.mig_instances]
        assert numbers == [(2, 1), (2, 0), (5, 0)]
        assert [instance.utilization_ratio for instance in gpu.mig_instances] == [0.63, 0.63, 0]
    finally:
        reader.close()
