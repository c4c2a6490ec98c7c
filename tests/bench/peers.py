"""Programs that others use for the same purpose, put into place under the state directory."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.real.places import STATE, PeerUnavailableError
from vllmwatch.errors import VllmwatchError
from vllmwatch.stack.apt import PackageArchive, machine_distribution

BENCH_STATE = STATE / "bench"
# In an environment of its own: what it needs must not decide what we are tested with.
NVITOP_EXPORTER = "nvitop-exporter==1.7.2"
# By distribution: a suite that carries vmagent.
VMAGENT_SUITES = {"debian": "forky", "ubuntu": "resolute"}
_PACKAGE = "victoria-metrics"
_INSTALL_SECONDS = 300


def nvitop_exporter() -> Path:
    """Return nvitop-exporter, installed where it was not; raises PeerUnavailableError."""
    folder = BENCH_STATE / NVITOP_EXPORTER
    program = folder / "bin" / "nvitop-exporter"
    if program.exists():
        return program
    shutil.rmtree(folder, ignore_errors=True)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", NVITOP_EXPORTER]
    for command in ([sys.executable, "-m", "venv", str(folder)], pip):
        done = subprocess.run(command, capture_output=True, text=True, timeout=_INSTALL_SECONDS, check=False)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            words = (done.stderr.strip() or done.stdout.strip() or "no reason was given").splitlines()
            raise PeerUnavailableError(f"no {NVITOP_EXPORTER}: {words[-1]}")
    return program


def vmagent() -> Path:
    """Return vmagent of the distribution's victoria-metrics, unpacked where it was not; raises PeerUnavailableError."""
    distribution = machine_distribution()
    if distribution is None:
        raise PeerUnavailableError("vmagent comes from the packages of Debian or Ubuntu, and this machine has none")
    suite = VMAGENT_SUITES[distribution.name]
    target = BENCH_STATE / _PACKAGE / suite
    program = target / "usr" / "bin" / "vmagent"
    if program.exists():
        return program
    try:
        archive = PackageArchive(distribution, suite, BENCH_STATE / _PACKAGE / f"{suite}.apt")
        try:
            archive.update()
            archive.unpack([_PACKAGE], target)
        finally:
            archive.forget()
    except VllmwatchError as error:
        raise PeerUnavailableError(f"no vmagent: {error.message}") from error
    if not program.exists():
        raise PeerUnavailableError(f"no vmagent in the {_PACKAGE} of {suite}")
    return program
