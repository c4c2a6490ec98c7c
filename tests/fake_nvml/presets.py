"""Hosts for the stand-in NVML: each a function that returns the lines of a state file.

The figures are typed here after what such cards show when they serve a model; none is a recording.
"""

from collections.abc import Callable, Mapping

from tests.fake_nvml.cards import (
    GIB,
    MIB,
    Lines,
    active_links,
    card,
    datacenter_card,
    geforce_card,
    host,
    processes,
)


def h100_host(gpus: int = 8) -> Lines:
    """Eight H100 SXM cards that serve two models with tensor parallelism, joined by 18 NVLinks each."""
    lines = host(gpus, driver="580.95.05", cuda=13000)
    for index in range(gpus):
        lines |= datacenter_card(index, "NVIDIA H100 80GB HBM3", total=81559 * MIB, used=74210 * MIB, watts=412.4)
        lines |= active_links(index, 18)
    return lines | processes(*[(f"gpu.{i}", "compute", 21000 + i, 73700 * MIB) for i in range(gpus)])


def h200_host() -> Lines:
    """One H200."""
    lines = host(1, driver="580.105.08", cuda=13000)
    lines |= datacenter_card(0, "NVIDIA H200", total=143771 * MIB, used=131072 * MIB, watts=518.9)
    return lines | processes(("gpu.0", "compute", 3311, 130000 * MIB))


def mig_host() -> Lines:
    """One H100 cut into a 3g.40gb and a 2g.20gb instance, whose parent answers for neither use nor remapped rows."""
    lines = host(1, driver="580.95.05", cuda=13000)
    lines |= datacenter_card(0, "NVIDIA H100 80GB HBM3", total=81559 * MIB, used=30010 * MIB, watts=301.2)
    silent = ("nvmlDeviceGetUtilizationRates", "nvmlDeviceGetEncoderUtilization", "nvmlDeviceGetDecoderUtilization")
    for key in [*(f"gpu.0.{name}" for name in silent), *(f"gpu.0.field.{number}" for number in range(142, 146))]:
        del lines[key]
    lines |= {"gpu.0.nvmlDeviceGetMigMode": "1,1", "gpu.0.nvmlDeviceGetMaxMigDeviceCount": "7"}
    lines |= {"gpu.0.nvmlGpmQueryDeviceSupport": "1"}
    lines |= _instance(0, "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0001", 2, "3g.40gb", total=40448, used=29952)
    lines |= _instance(1, "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0002", 5, "2g.20gb", total=20096, used=38)
    lines |= {"gpu.0.nvmlGpmMigSampleGet.2": "63", "gpu.0.nvmlGpmMigSampleGet.5": "0"}
    return lines | {"process.0": f"gpu.0.mig.0,compute,8801,{29500 * MIB},2,0"}


def shared_mig_host() -> Lines:
    """As mig_host, with two compute instances in one GPU instance: each tells the memory that they share."""
    lines = mig_host()
    lines |= _instance(0, "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0001", 2, "1c.3g.40gb", total=40448, used=29952)
    lines |= _instance(1, "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0003", 2, "2c.3g.40gb", total=40448, used=29952)
    # NVML numbers MIG devices in an order of its own.
    lines |= {"gpu.0.mig.0.nvmlDeviceGetComputeInstanceId": "1", "gpu.0.mig.1.nvmlDeviceGetComputeInstanceId": "0"}
    lines |= _instance(2, "MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c0002", 5, "2g.20gb", total=20096, used=38)
    return lines | {"process.0": f"gpu.0.mig.1,compute,8801,{29500 * MIB},2,0"}


def _instance(index: int, uuid: str, gpu_instance: int, profile: str, *, total: int, used: int) -> Lines:
    prefix = f"gpu.0.mig.{index}."
    reserved = 24
    memory = ",".join(str(part * MIB) for part in (total, reserved, total - reserved - used, used))
    return {
        prefix + "nvmlDeviceGetUUID": uuid,
        prefix + "nvmlDeviceGetName": f"NVIDIA H100 80GB HBM3 MIG {profile}",
        prefix + "nvmlDeviceGetGpuInstanceId": str(gpu_instance),
        prefix + "nvmlDeviceGetComputeInstanceId": "0",
        prefix + "nvmlDeviceGetMemoryInfo": memory,
        prefix + "nvmlDeviceGetTemperature": "error:2",
    }


def rtx_host() -> Lines:
    """Two GeForce cards: fans, no ECC, no serial, no memory temperature; a desktop and a model share the first."""
    lines = host(2, driver="575.57.08", cuda=12090)
    for index in range(2):
        lines |= geforce_card(index, "NVIDIA GeForce RTX 4090", total=24564 * MIB, used=21900 * MIB, watts=287.6)
    return lines | processes(
        ("gpu.0", "compute", 5150, 20900 * MIB),
        ("gpu.0", "graphics", 2210, 310 * MIB),
        ("gpu.1", "compute", 5151, None),
    )


def l4_host() -> Lines:
    """One L4: passively cooled, ECC, no NVLink, a memory temperature that reads 0."""
    lines = host(1, driver="550.163.01", cuda=12040)
    lines |= datacenter_card(0, "NVIDIA L4", total=23034 * MIB, used=20480 * MIB, watts=61.3, architecture=8)
    lines |= {"gpu.0.field.82": "u32:0", "gpu.0.field.190.0": "u32:72000", "gpu.0.field.188.0": "u32:72000"}
    lines |= {"gpu.0.field.189.0": "u32:72000", "gpu.0.field.187.0": "u32:40000", "gpu.0.field.91": "u32:0"}
    return lines | processes(("gpu.0", "compute", 777, 19 * GIB))


def v100_host() -> Lines:
    """One V100 on an old driver: retired pages, NVLink counters by lane, absolute thresholds."""
    lines = host(1, driver="470.256.02", cuda=11040)
    lines |= card(0, "Tesla V100-SXM2-32GB", total=32510 * MIB, used=29000 * MIB, watts=188.0, architecture=5)
    lines |= {"gpu.0.nvmlDeviceGetSerial": "0323018000417", "gpu.0.nvmlDeviceGetEccMode": "1,1"}
    lines |= {f"gpu.0.nvmlDeviceGetTemperatureThreshold.{kind}": str(at) for kind, at in enumerate((90, 87, 85, 83))}
    lines |= {"gpu.0.field.82": "u32:47", "gpu.0.field.83": "u64:74310882190", "gpu.0.field.1": "u32:1"}
    lines |= {
        "gpu.0.field.29": "u32:2",
        "gpu.0.field.30": "u32:1",
        "gpu.0.field.31": "u32:1",
        "gpu.0.field.91": "u32:6",
    }
    lines |= {f"gpu.0.field.{number}": f"u64:{value}" for number, value in ((3, 11), (4, 0), (5, 40), (6, 1))}
    for link in range(6):
        lines |= {f"gpu.0.nvmlDeviceGetNvLinkState.{link}": "1" if link < 5 else "0"}
        lines |= {
            f"gpu.0.field.{first + link}": f"u64:{link + extra}" for first, extra in ((46, 0), (53, 1), (32, 100))
        }
    lines |= {f"gpu.0.nvmlDeviceGetViolationStatus.{policy}": str(policy * 10**9 + 5 * 10**8) for policy in range(6)}
    return lines | processes(("gpu.0", "compute", 909, 28000 * MIB))


def b200_host() -> Lines:
    """One B200: NVLink 5 counters, module power."""
    lines = host(1, driver="580.95.05", cuda=13000)
    lines |= datacenter_card(0, "NVIDIA B200", total=183359 * MIB, used=160000 * MIB, watts=744.0, architecture=10)
    lines |= {
        f"gpu.0.field.{number}.0": f"u32:{watts * 1000}" for number, watts in ((188, 1000), (189, 1000), (190, 1000))
    }
    lines |= {"gpu.0.field.185.1": "u32:911000", "gpu.0.field.186.1": "u32:933500", "gpu.0.field.91": "u32:2"}
    for link in range(2):
        lines |= {f"gpu.0.field.165.{link}": "u32:1", f"gpu.0.field.202.{link}": f"u64:{7 * 10**12 + link}"}
        lines |= {f"gpu.0.field.204.{link}": f"u64:{6 * 10**12 + link}", f"gpu.0.field.208.{link}": f"u64:{link}"}
        lines |= {
            f"gpu.0.field.212.{link}": "u64:0",
            f"gpu.0.field.214.{link}": "u64:0",
            f"gpu.0.field.215.{link}": "u64:4",
        }
    return lines


def sick_host() -> Lines:
    """Four H100 cards: one lost, one throttled by heat, one on a narrow PCIe link, one with broken memory."""
    lines = h100_host(4)
    lines |= {"gpu.1.nvmlDeviceGetTemperature.0": "91", "gpu.1.nvmlDeviceGetMarginTemperature": "-4"}
    lines |= {"gpu.1.nvmlDeviceGetCurrentClocksEventReasons": str(0x08 | 0x20 | 0x40)}
    lines |= {"gpu.1.nvmlDeviceGetClockInfo.1": "690", "gpu.1.field.270": f"u64:{3600 * 10**9}"}
    lines |= {"gpu.2.nvmlDeviceGetCurrPcieLinkWidth": "4", "gpu.2.field.94": "u32:1290"}
    lines |= {"gpu.2.field.165.7": "u32:0", "gpu.2.field.163.7": "u64:55012"}
    lines |= {"gpu.3.field.144": "u32:1", "gpu.3.field.145": "u32:1", "gpu.3.field.143": "u32:8"}
    lines |= {"gpu.3.field.4": "u64:3", "gpu.3.field.6": "u64:19", "gpu.3.field.230": "u32:1"}
    return lines | {"gpu.0.*": "error:15"}


def gb10_host() -> Lines:
    """One GB10, whose memory is the host's: no memory figures, no limit of power."""
    lines = host(1, driver="580.95.05", cuda=13000)
    lines |= card(0, "NVIDIA GB10", total=0, used=0, watts=9.7, architecture=10)
    for key in [key for key in lines if "MemoryInfo" in key or "PowerLimit" in key or "PcieLink" in key]:
        del lines[key]
    return lines | processes(("gpu.0", "compute", 6021, 52_000_000_000))


def no_driver() -> Lines:
    """The library is there, the driver is not."""
    return {"nvmlInit_v2": "error:9"}


def no_gpu() -> Lines:
    """The driver is there, and no GPU."""
    return host(0, driver="580.95.05", cuda=13000)


def slow_host() -> Lines:
    """Two H100 cards whose driver takes 60 ms for a reading of utilization."""
    return h100_host(2) | {"delay_ms.nvmlDeviceGetUtilizationRates": "60"}


def cgroup_host() -> Lines:
    """A container that lost its devices to a reload of systemd: every initialization is an unknown error."""
    return {"nvmlInit_v2": "error:999"}


PRESETS: Mapping[str, Callable[[], Lines]] = {
    function.__name__: function
    for function in (
        h100_host,
        h200_host,
        mig_host,
        shared_mig_host,
        rtx_host,
        l4_host,
        v100_host,
        b200_host,
        sick_host,
        gb10_host,
        no_driver,
        no_gpu,
        slow_host,
        cgroup_host,
    )
}
