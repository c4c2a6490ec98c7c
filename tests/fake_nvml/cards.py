"""The lines of one card: what every card answers, and what data centre and GeForce cards add."""

MIB = 2**20
GIB = 2**30
Lines = dict[str, str]


def host(gpus: int, *, driver: str, cuda: int) -> Lines:
    """Return the lines of the library as a whole; `cuda` is 1000 * major + 10 * minor."""
    return {
        "nvmlDeviceGetCount_v2": str(gpus),
        "nvmlSystemGetDriverVersion": driver,
        "nvmlSystemGetNVMLVersion": f"13.{driver}",
        "nvmlSystemGetCudaDriverVersion_v2": str(cuda),
    }


def card(index: int, name: str, *, total: int, used: int, watts: float, architecture: int) -> Lines:
    """Return what every card answers; memory in bytes."""
    reserved = total // 170
    calls = {
        "nvmlDeviceGetUUID": uuid_of(index),
        "nvmlDeviceGetName": name,
        "nvmlDeviceGetPciInfo_v3": f"00000000:{0x18 + 0x11 * index:02X}:00.0",
        "nvmlDeviceGetArchitecture": str(architecture),
        "nvmlDeviceGetVbiosVersion": f"96.00.{index:02d}.00.01",
        "nvmlDeviceGetBrand": "14",
        "nvmlDeviceGetTemperature.0": str(54 + index),
        "nvmlDeviceGetPowerUsage": str(int(watts * 1000)),
        "nvmlDeviceGetEnforcedPowerLimit": "300000",
        "nvmlDeviceGetPowerManagementLimit": "300000",
        "nvmlDeviceGetPowerManagementDefaultLimit": "300000",
        "nvmlDeviceGetPowerManagementLimitConstraints": "100000,300000",
        "nvmlDeviceGetUtilizationRates": f"{90 + index},{40 + index}",
        "nvmlDeviceGetEncoderUtilization": "3,167000",
        "nvmlDeviceGetDecoderUtilization": "7,167000",
        "nvmlDeviceGetMemoryInfo": f"{total},{reserved},{total - reserved - used},{used}",
        "nvmlDeviceGetBAR1MemoryInfo": f"{128 * GIB},{128 * GIB - 7 * MIB},{7 * MIB}",
        "nvmlDeviceGetPerformanceState": "0",
        "nvmlDeviceGetPersistenceMode": "1",
        "nvmlDeviceGetComputeMode": "0",
        "nvmlDeviceGetDisplayMode": "0",
        "nvmlDeviceGetDisplayActive": "0",
        "nvmlDeviceGetCudaComputeCapability": "9,0",
        "nvmlDeviceGetCurrentClocksEventReasons": "0x4",
        "nvmlDeviceGetCurrentClocksThrottleReasons": "0x4",
        "nvmlDeviceGetSupportedClocksEventReasons": "0x1ff",
        "nvmlDeviceGetSupportedClocksThrottleReasons": "0x1ff",
        "nvmlDeviceGetSupportedEventTypes": "0x18f",
        "nvmlDeviceGetCurrPcieLinkGeneration": "5",
        "nvmlDeviceGetMaxPcieLinkGeneration": "5",
        "nvmlDeviceGetCurrPcieLinkWidth": "16",
        "nvmlDeviceGetMaxPcieLinkWidth": "16",
        "nvmlDeviceGetPcieThroughput.0": "120000",
        "nvmlDeviceGetPcieThroughput.1": "90000",
        "field.94": "u32:6",
        "field.186.0": f"u32:{int(watts * 1000) + 25400}",
    }
    calls |= {f"nvmlDeviceGetClockInfo.{kind}": str(at) for kind, at in enumerate((1755, 1740, 2619, 1545))}
    calls |= {f"nvmlDeviceGetMaxClockInfo.{kind}": str(at) for kind, at in enumerate((1980, 1980, 2619, 1545))}
    return {f"gpu.{index}.{key}": value for key, value in calls.items()}


def uuid_of(index: int) -> str:
    """Return the UUID that the presets give to a GPU."""
    return f"GPU-7c4e1b9a-0f3d-4e52-8a61-d2b5c09e000{index}"


def datacenter_card(index: int, name: str, *, total: int, used: int, watts: float, architecture: int = 9) -> Lines:
    """Return a card with ECC, remapped rows, margins of temperature, GSP firmware and all power fields."""
    fields = {
        1: "u32:1",
        2: "u32:1",
        3: f"u64:{10 + index}",
        4: "u64:0",
        5: f"u64:{200 + index}",
        6: "u64:1",
        74: f"u64:{8_123_456_789_000 + index}",
        75: "u64:1500000000",
        76: "u64:0",
        77: "u64:250000000",
        78: "u64:9000000000000",
        79: "u64:0",
        82: f"u32:{61 + index}",
        83: f"u64:{987_654_321_000 + index}",
        91: "u32:0",
        142: "u32:2",
        143: "u32:0",
        144: "u32:0",
        145: "u32:0",
        185: f"u32:{int(watts * 1000)}",
        187: "u32:200000",
        188: "u32:700000",
        189: "u32:700000",
        190: "u32:650000",
        193: "i32:-8",
        194: "i32:-2",
        195: "i32:0",
        196: "i32:0",
        230: "u32:0",
        269: "u64:2000000000",
        270: "u64:0",
        271: "u64:750000000",
    }
    lines = card(index, name, total=total, used=used, watts=watts, architecture=architecture)
    calls = {
        "nvmlDeviceGetSerial": f"165022300{index:04d}",
        "nvmlDeviceGetMarginTemperature": str(33 - index),
        "nvmlDeviceGetGspFirmwareVersion": "580.95.05",
        "nvmlDeviceGetGspFirmwareMode": "1,1",
        "nvmlDeviceGetEccMode": "1,1",
        "nvmlDeviceGetMigMode": "0,0",
        "nvmlDeviceGetMaxMigDeviceCount": "0",
        "nvmlDeviceGetTotalEccErrors.0.0": str(10 + index),
        "nvmlDeviceGetTotalEccErrors.1.0": "0",
        "nvmlDeviceGetTotalEnergyConsumption": str(987_654_321_000 + index),
        "nvmlDeviceGetAddressingMode": "0",
        "nvmlDeviceGetEnforcedPowerLimit": "650000",
        "nvmlDeviceGetPowerManagementLimit": "650000",
        "nvmlDeviceGetPowerManagementDefaultLimit": "700000",
        "nvmlDeviceGetPowerManagementLimitConstraints": "200000,700000",
    }
    calls |= {f"field.{number}{_scope(number)}": value for number, value in fields.items()}
    return lines | {f"gpu.{index}.{key}": value for key, value in calls.items()}


def _scope(field: int) -> str:
    """Return the scope of a field: the power fields are of the GPU (0) or of the whole module (1)."""
    return ".0" if field in range(185, 191) else ""


def geforce_card(index: int, name: str, *, total: int, used: int, watts: float) -> Lines:
    """Return a card with two fans, absolute thresholds, and no ECC, serial or memory temperature."""
    lines = card(index, name, total=total, used=used, watts=watts, architecture=8)
    calls = {
        "nvmlDeviceGetNumFans": "2",
        "nvmlDeviceGetFanSpeed": "46",
        "nvmlDeviceGetFanSpeed_v2.0": "46",
        "nvmlDeviceGetFanSpeed_v2.1": "48",
        "nvmlDeviceGetTemperatureThreshold.0": "99",
        "nvmlDeviceGetTemperatureThreshold.1": "96",
        "nvmlDeviceGetTemperatureThreshold.3": "90",
        "nvmlDeviceGetTotalEnergyConsumption": "55123456",
        "nvmlDeviceGetAddressingMode": "1",
        "nvmlDeviceGetEnforcedPowerLimit": "450000",
        "nvmlDeviceGetPowerManagementLimit": "450000",
        "nvmlDeviceGetDisplayActive": "1",
        "nvmlDeviceGetPersistenceMode": "0",
        "nvmlDeviceGetMaxPcieLinkGeneration": "4",
        "nvmlDeviceGetCurrPcieLinkGeneration": "4",
        "field.83": f"u64:{55_123_456 + index}",
        "field.185.0": f"u32:{int(watts * 1000)}",
        "field.190.0": "u32:450000",
        "field.230": "u32:0",
    }
    return lines | {f"gpu.{index}.{key}": value for key, value in calls.items()}


def active_links(index: int, links: int) -> Lines:
    """Return NVLinks that are all up and carry traffic (fields 138 and 139 count KiB)."""
    lines = {f"gpu.{index}.field.91": f"u32:{links}"}
    for link in range(links):
        lines |= {
            f"gpu.{index}.field.165.{link}": "u32:1",
            f"gpu.{index}.field.138.{link}": f"u64:{4_000_000 + link}",
            f"gpu.{index}.field.139.{link}": f"u64:{3_000_000 + link}",
            f"gpu.{index}.field.161.{link}": "u64:0",
            f"gpu.{index}.field.162.{link}": "u64:0",
            f"gpu.{index}.field.163.{link}": f"u64:{link % 3}",
        }
    return lines


def processes(*entries: tuple[str, str, int, int | None]) -> Lines:
    """Return processes: the device ("gpu.0"), compute or graphics, the pid, and its memory in bytes or None."""
    return {
        f"process.{number}": f"{device},{kind},{pid},{'-' if memory is None else memory},-,-"
        for number, (device, kind, pid, memory) in enumerate(entries)
    }
