"""Which GPUs a process was told that it may use, by its environment."""

from dataclasses import dataclass
from pathlib import Path

_CUDA = "CUDA_VISIBLE_DEVICES"
_NVIDIA = "NVIDIA_VISIBLE_DEVICES"
_ORDER = "CUDA_DEVICE_ORDER"
_LIMIT_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class VisibleDevices:
    """The variables as they are; None where a variable is not set.

    `cuda` (CUDA_VISIBLE_DEVICES) counts within what `nvidia` (NVIDIA_VISIBLE_DEVICES, of NVIDIA's container toolkit)
    lets in; `order` is CUDA_DEVICE_ORDER. `shared_view` says that the process has our own file systems:
    then it was let in to the very devices that we see, whatever `nvidia` says.
    """

    cuda: str | None = None
    nvidia: str | None = None
    order: str | None = None
    shared_view: bool = False


def visible_devices(pid: int, proc: Path = Path("/proc")) -> VisibleDevices | None:
    """Read the environment that a process was started with, or None where that is not ours to see."""
    try:
        with (proc / str(pid) / "environ").open("rb") as stream:
            content = stream.read(_LIMIT_BYTES)
    except OSError:
        return None
    entries = (entry.partition(b"=") for entry in content.split(b"\0"))
    found = {name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, _, value in entries}
    mounts = _mounts(proc, str(pid))
    shared = mounts is not None and mounts == _mounts(proc, "self")
    return VisibleDevices(found.get(_CUDA), found.get(_NVIDIA), found.get(_ORDER), shared)


def _mounts(proc: Path, pid: str) -> str | None:
    """Return what identifies the mount namespace of a process."""
    try:
        return str((proc / pid / "ns" / "mnt").readlink())
    except OSError:
        return None
