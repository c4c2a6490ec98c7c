"""Builds the environment that a real vLLM server runs in, and the tiny model that it serves.

Run as `python -m tests.real.vllm_environment`. What is there and whole is left as it is: a stamp holds the digest
of the lock. About 2 minutes and 3 GiB of disk the first time.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from tests.real.places import ROOT, TEST_STATE, TINY_MODEL, VLLM_ENVIRONMENT, PeerUnavailableError

VLLM_VERSION = "0.32.0"
TORCH_VERSION = "2.13.0+cpu"
LOCK = ROOT / "requirements" / "vllm.txt"
MODEL_SCRIPT = Path(__file__).with_name("make_tiny_model.py")
STAMP = VLLM_ENVIRONMENT / "vllmwatch-stamp"
REASON = TEST_STATE / "vllm-unavailable.txt"
INSTALL_SECONDS = 1800

# vLLM asks importlib.metadata for the distribution "vllm"; the CPU build is called vllm-cpu.
METADATA = f"Metadata-Version: 2.1\nName: vllm\nVersion: {VLLM_VERSION}+cpu\n"


def offline_environment() -> dict[str, str]:
    """Return this process's environment with everything that calls home switched off."""
    quiet = {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_CPU_KVCACHE_SPACE": "1"}
    return {**os.environ, **quiet}


def pip_install(python: Path) -> list[str]:
    """Return the start of a command that installs exactly what is named into an environment."""
    return [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]


def run(arguments: Sequence[str | Path], what: str) -> None:
    """Run one step; a failure is a PeerUnavailableError that carries the end of what the step said."""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        env=offline_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=INSTALL_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise PeerUnavailableError(f"{what} failed:\n{done.stdout[-2000:]}")


def stamp_text() -> str:
    """Return what the stamp of a whole environment holds: it changes with the lock, torch and the Python."""
    recipe = LOCK.read_bytes() + TORCH_VERSION.encode() + MODEL_SCRIPT.read_bytes() + sys.version.encode()
    return hashlib.sha256(recipe + str(VLLM_ENVIRONMENT).encode()).hexdigest()


def install_torch(python: Path) -> None:
    """Install the CPU build of torch: from TORCH_INDEX_URL where that is set, else from where pip looks anyway."""
    index = os.environ.get("TORCH_INDEX_URL")
    where = ["--index-url", index] if index else []
    command = [*pip_install(python), *where, f"torch=={TORCH_VERSION}"]
    hint = "" if index else " (set TORCH_INDEX_URL to the address of PyTorch's index of CPU wheels)"
    run(command, f"installing torch {TORCH_VERSION}{hint}")


def site_packages(root: Path) -> Path:
    """Return the folder for modules of a virtual environment."""
    return Path(sysconfig.get_path("purelib", scheme="venv", vars={"base": str(root)}))


def build() -> None:
    """Make the environment anew: locked dependencies, torch, the metadata that vLLM asks for, the model."""
    shutil.rmtree(VLLM_ENVIRONMENT, ignore_errors=True)
    shutil.rmtree(TINY_MODEL, ignore_errors=True)
    TEST_STATE.mkdir(parents=True, exist_ok=True)
    run([sys.executable, "-m", "venv", VLLM_ENVIRONMENT], "making the environment of vLLM")
    python = VLLM_ENVIRONMENT / "bin" / "python"
    install_torch(python)
    run([*pip_install(python), "--require-hashes", "-r", str(LOCK)], f"installing vLLM {VLLM_VERSION}")
    metadata = site_packages(VLLM_ENVIRONMENT) / f"vllm-{VLLM_VERSION}+cpu.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(METADATA)
    (metadata / "RECORD").write_text("")
    run([python, MODEL_SCRIPT, TINY_MODEL], "making the tiny model")


def is_whole() -> bool:
    """Tell whether the environment was built to its end by this recipe."""
    return STAMP.exists() and STAMP.read_text() == stamp_text() and TINY_MODEL.is_dir()


def ensure() -> None:
    """Build the environment unless it is there and whole; raises PeerUnavailableError and notes why for `find`."""
    if is_whole():
        return
    try:
        build()
    except (PeerUnavailableError, subprocess.TimeoutExpired) as error:
        REASON.write_text(str(error))
        raise PeerUnavailableError(str(error)) from error
    REASON.unlink(missing_ok=True)
    STAMP.write_text(stamp_text())


def find() -> Path:
    """Return the `vllm` command; raises PeerUnavailableError with the reason why it is not there."""
    if not is_whole():
        reason = REASON.read_text() if REASON.exists() else "python -m tests.real.vllm_environment was not run"
        raise PeerUnavailableError(f"no vLLM {VLLM_VERSION}: {reason}")
    return VLLM_ENVIRONMENT / "bin" / "vllm"


if __name__ == "__main__":
    try:
        ensure()
    except PeerUnavailableError as unavailable:
        sys.exit(f"vLLM {VLLM_VERSION} cannot be had here: {unavailable}")
