"""The GPUs of the boards' world: cards of all ages and ills on one host, whose counters move."""

from collections.abc import Mapping
from pathlib import Path

from tests.fake_nvml import presets
from tests.fake_nvml.cards import GIB, MIB, Lines, active_links, datacenter_card, host, uuid_of
from tests.fake_nvml.cards import processes as listed
from tests.fake_nvml.state import State

H100 = "NVIDIA H100 80GB HBM3"
WELL, HOT, NARROW, BROKEN, LOST, OLD, CUT, SHARED, MODULE, UNIFIED = range(10)
"""The GPUs by index: four H100 of which one is hot and slow, one narrow and one with broken memory, one that falls off
the bus, a V100, an H100 that is cut up, a GeForce card that two servers share, a B200, a GB10."""
INSTANCES = tuple(f"MIG-1f3a0c52-6a11-5c0e-9d0b-5b8e1a7c000{number}" for number in (1, 2))
# No process of any Linux has numbers as high (pid_max is 4,194,304 at most), so these are of processes that are gone.
DEAD = 4_195_000
_MILLION = 10**6
_BILLION = 10**9


def pci_of(index: int) -> str:
    """Return the PCI address of a GPU as the kernel log has it."""
    return f"0000:{0x18 + 0x11 * index:02x}:00"


def gpus(engine_pid: int) -> Lines:
    """Return the host; `engine_pid` is on the first GPU.

    A dead process holds memory of the narrow one, another is on the first instance of the one that is cut up; no
    processes are listed on the others.
    """
    lines = host(10, driver="580.95.05", cuda=13000)
    for index in (WELL, HOT, NARROW, BROKEN, LOST):
        lines |= datacenter_card(index, H100, total=81559 * MIB, used=74210 * MIB, watts=412.4)
        lines |= active_links(index, 4)
    for index, preset in (
        (OLD, presets.v100_host()),
        (CUT, presets.mig_host()),
        (SHARED, presets.rtx_host()),
        (MODULE, presets.b200_host()),
        (UNIFIED, presets.gb10_host()),
    ):
        lines |= _moved(preset, index)
    return (
        lines
        | _ills()
        | listed((f"gpu.{WELL}", "compute", engine_pid, 70 * GIB), (f"gpu.{NARROW}", "compute", DEAD, 70 * GIB))
        | {"process.2": f"gpu.{CUT}.mig.0,compute,{DEAD + 1},{29500 * MIB},2,0"}
    )


def _moved(lines: Lines, index: int) -> Lines:
    """Return the first GPU of a host as the GPU `index` of another."""
    found = {
        f"gpu.{index}.{key.removeprefix('gpu.0.')}": text for key, text in lines.items() if key.startswith("gpu.0.")
    }
    return found | {
        f"gpu.{index}.nvmlDeviceGetUUID": uuid_of(index),
        f"gpu.{index}.nvmlDeviceGetPciInfo_v3": f"0000{pci_of(index).upper()}.0",
    }


def _ills() -> Lines:
    hot = {
        "nvmlDeviceGetTemperature.0": "93",
        "nvmlDeviceGetCurrentClocksEventReasons": str(0x08 | 0x40 | 0x80),
        "nvmlDeviceGetClockInfo.1": "690",
        "field.82": "u32:99",
    }
    narrow = {"nvmlDeviceGetCurrPcieLinkWidth": "4"}
    broken = {"field.143": "u32:8", "field.144": "u32:1", "field.145": "u32:1", "field.230": "u32:1"}
    return {
        f"gpu.{index}.{key}": text
        for index, lines in ((HOT, hot), (NARROW, narrow), (BROKEN, broken), (MODULE, {"field.230": "u32:3"}))
        for key, text in lines.items()
    }


# What grows each second: energy (mJ), time held down (ns), replays, memory errors, errors and data of links (KiB).
def _moving(lines: Mapping[str, str]) -> dict[str, int]:
    moving = {f"gpu.{index}.field.83": 1000 * (300 + 40 * index) for index in range(10)}
    moving |= {f"gpu.{HOT}.field.{number}": _BILLION // 2 for number in (74, 269, 270, 271)}
    moving |= {f"gpu.{BROKEN}.field.{number}": 1 for number in (3, 4, 5, 6)}
    moving |= {f"gpu.{NARROW}.field.94": 3, f"gpu.{NARROW}.field.161.0": 1, f"gpu.{NARROW}.field.162.1": 1}
    moving |= {f"gpu.{WELL}.field.{number}.{link}": 2_000_000 for number in (138, 139) for link in range(4)}
    return {key: per_second for key, per_second in moving.items() if key in lines}


class Gpus:
    """A host of the stand-in NVML whose counters move when `tick` is called."""

    def __init__(self, path: Path, lines: Lines) -> None:
        self.state = State(path, lines)
        self._start = dict(lines)
        self._moving = _moving(lines)

    def tick(self, seconds: float) -> None:
        """Set all that moves to where it is `seconds` after the start."""
        for key, per_second in self._moving.items():
            kind, _, start = self._start[key].partition(":")
            self.state.lines[key] = f"{kind}:{int(start) + int(per_second * seconds)}"
        margin = f"gpu.{HOT}.nvmlDeviceGetMarginTemperature"
        if margin in self._start:
            self.state.lines[margin] = str(-3 - int(seconds) // 10 % 2)
        self.state.write()

    def worsen(self) -> None:
        """Lose a GPU and a link of another."""
        self.state.lose_gpu(LOST)
        self.state.set(f"gpu.{NARROW}.field.165.3", "u32:0")


class KernelLog:
    """A kernel log that tells of XID errors."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = 0
        path.write_text("")

    def raise_xid(self, address: str, xid: int) -> None:
        """Add a line about a GPU at a PCI address."""
        self._lines += 1
        with self.path.open("a") as log:
            log.write(f"4,{self._lines},{self._lines * _MILLION},-;NVRM: Xid (PCI:{address}): {xid}, pid=1, name=x\n")

    def tell(self) -> None:
        """Tell of a GPU that fell off the bus, of those that ended programs, and of one that nobody knows."""
        for address, xid in ((pci_of(LOST), 79), (pci_of(HOT), 31), (pci_of(BROKEN), 48), ("0000:fe:00", 79)):
            self.raise_xid(address, xid)
