"""Records pages of vLLM releases that cannot be run here, as those releases' own metrics code prints them.

Run as `python -m tests.real.record_registry_pages [VERSION …]`, on Linux with an x86-64 processor: for each release
it downloads the wheel (up to 500 MB, deleted at once) into a temporary folder, unpacks its Python files and lets
registry_page.py print the pages with the prometheus_client of that time. Names, HELP, TYPE, labels, buckets and order
are the release's; values are made up. `--list` says which releases it knows, and `--folder` where pages go.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.real.places import ROOT

FOLDER = ROOT / "tests" / "data" / "vllm"
DOWNLOAD_SECONDS = 900.0
PRINT_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class RegistryPage:
    """One page: its name without suffix, the engine as registry_page.py names it, and whether processes share files."""

    name: str
    engine: str
    multiprocess: bool = False


V0 = RegistryPage("registry", "v0")
V1 = RegistryPage("registry", "v1")
# From 0.5.5 to the end of V0, the front end was a process of its own unless that was turned off.
V0_MULTIPROCESS = RegistryPage("registry", "v0", multiprocess=True)
V0_ONE_PROCESS = RegistryPage("registry_one_process", "v0")


@dataclass(frozen=True, slots=True)
class Release:
    """A release, the prometheus_client (and, where it has one, the instrumentator) of its time, and its pages."""

    version: str
    prometheus_client: str
    pages: tuple[RegistryPage, ...] = (V1,)
    instrumentator: str = ""


RELEASES = (
    Release("0.4.0", "0.20.0", (V0,)),
    Release("0.4.3", "0.20.0", (V0,)),
    Release("0.5.5", "0.20.0", (V0_MULTIPROCESS, V0_ONE_PROCESS)),
    Release("0.6.3", "0.21.0", (V0_MULTIPROCESS, V0_ONE_PROCESS)),
    Release("0.6.6", "0.21.1", (V0_ONE_PROCESS,)),
    Release("0.7.3", "0.21.1", (V0_MULTIPROCESS, V0_ONE_PROCESS, RegistryPage("registry_v1", "v1"))),
    Release("0.8.2", "0.21.1", (V1, RegistryPage("registry_v0", "v0"))),
    Release("0.8.5", "0.21.1", instrumentator="7.1.0"),
    Release("0.9.1", "0.22.1", (V1, RegistryPage("registry_v0", "v0")), "7.1.0"),
    Release("0.11.0", "0.23.1", instrumentator="7.1.0"),
    Release("0.13.0", "0.23.1", instrumentator="7.1.0"),
    Release("0.15.1", "0.24.1", instrumentator="7.1.0"),
    Release("0.16.0", "0.24.1", instrumentator="7.1.0"),
    Release("0.17.1", "0.24.1", instrumentator="7.1.0"),
    Release("0.18.0", "0.24.1", instrumentator="7.1.0"),
    Release("0.19.1", "0.24.1", instrumentator="7.1.0"),
    Release("0.21.0", "0.25.0", instrumentator="7.1.0"),
    Release("0.22.0", "0.25.0", instrumentator="7.1.0"),
    Release("0.23.0", "0.25.0", instrumentator="7.1.0"),
    Release("0.25.1", "0.25.0", instrumentator="8.0.2"),
    Release("0.26.0", "0.25.0", instrumentator="8.0.2"),
    Release("0.27.1", "0.25.0", instrumentator="8.0.2"),
    Release("0.29.0", "0.25.0", instrumentator="8.0.2"),
    Release("0.31.0", "0.26.0", instrumentator="8.0.2"),
    Release("0.33.0", "0.26.0", (V1, RegistryPage("registry_connectors", "v1_with_connectors")), "8.1.0"),
)


def pip(*arguments: str) -> None:
    """Run pip, bounded; raise where it fails."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    subprocess.run(command, check=True, timeout=DOWNLOAD_SECONDS)


def unpack(version: str, folder: Path) -> Path:
    """Download a release's wheel, unpack its Python files into a folder, delete the wheel; return the folder."""
    wheels = folder / "wheel"
    pip("download", f"vllm=={version}", "--no-deps", "--only-binary=:all:", "--python-version=3.11", f"--dest={wheels}")
    (wheel,) = wheels.glob("*.whl")
    source = folder / "source"
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.namelist():
            if member.startswith("vllm/") and member.endswith(".py"):
                archive.extract(member, source)
    wheel.unlink()
    return source


def install_libraries(release: Release, folder: Path) -> Path:
    """Install what prints the page, in the versions of the release's time; return where it lies."""
    wanted = [f"prometheus-client=={release.prometheus_client}"]
    if release.instrumentator:
        wanted.append(f"prometheus-fastapi-instrumentator=={release.instrumentator}")
    libraries = folder / "libraries"
    pip("install", "--no-deps", f"--target={libraries}", *wanted)
    return libraries


def print_page(page: RegistryPage, source: Path, libraries: Path) -> str:
    """Let the release print a page, in a process of its own."""
    with tempfile.TemporaryDirectory() as shared:
        environment = {**os.environ, "PYTHONPATH": str(libraries), "VLLM_COMPUTE_NANS_IN_LOGITS": "1"}
        if page.multiprocess:
            environment["PROMETHEUS_MULTIPROC_DIR"] = shared
        return subprocess.run(
            [sys.executable, "-m", "tests.real.registry_page", str(source), page.engine],
            check=True,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            timeout=PRINT_SECONDS,
        ).stdout


def record(release: Release, folder: Path = FOLDER) -> Iterator[Path]:
    """Write the pages of a release."""
    with tempfile.TemporaryDirectory() as name:
        source = unpack(release.version, Path(name))
        libraries = install_libraries(release, Path(name))
        for page in release.pages:
            path = folder / f"vllm_{release.version}_{page.name}.prom"
            path.write_text(print_page(page, source, libraries))
            yield path


def main() -> None:
    """Record the releases that the command line names, or all of them."""
    parser = argparse.ArgumentParser(description="Record pages that vLLM releases' own metrics code prints.")
    known = [release.version for release in RELEASES]
    parser.add_argument("versions", nargs="*", metavar="VERSION", help=", ".join(known))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--list", action="store_true")
    wanted = parser.parse_args()
    if unknown := set(wanted.versions) - set(known):
        parser.error(f"no release of this recorder: {', '.join(sorted(unknown))}")
    if wanted.list:
        print("\n".join(known))
        return
    for release in RELEASES:
        if not wanted.versions or release.version in wanted.versions:
            for path in record(release, wanted.folder):
                print(path)


if __name__ == "__main__":
    main()
