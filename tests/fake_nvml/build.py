"""Builds the stand-in libnvidia-ml.so.1 with the machine's C compiler, once per version of its source."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("nvml.c")
SONAME = "libnvidia-ml.so.1"
STATE_VARIABLE = "VLLMWATCH_FAKE_NVML_STATE"
LOOK_VARIABLE = "VLLMWATCH_FAKE_NVML_LOOK_MS"


def compiler() -> str | None:
    """Return the path of the C compiler, or None where there is none."""
    return shutil.which(os.environ.get("CC", "cc"))


def build(*options: str) -> Path:
    """Return the folder that holds the library (to be put first on LD_LIBRARY_PATH); `options` as in its source."""
    cc = compiler()
    assert cc is not None, "a C compiler is needed"
    digest = hashlib.sha256(SOURCE.read_bytes() + "".join(options).encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"vllmwatch-fake-nvml-{os.getuid()}-{digest}"
    if (folder / SONAME).exists():
        return folder
    folder.mkdir(mode=0o700, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as work:
        made = Path(work) / SONAME
        flags = ["-O2", "-shared", "-fPIC", "-pthread", f"-Wl,-soname,{SONAME}"]
        subprocess.run([cc, *flags, *options, "-o", str(made), str(SOURCE)], check=True, capture_output=True)
        made.replace(folder / SONAME)
    return folder
