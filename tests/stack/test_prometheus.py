"""A Prometheus is found on PATH, among those unpacked earlier, or in the distribution's packages."""

import subprocess
from pathlib import Path

import pytest

from vllmwatch.errors import StartError
from vllmwatch.stack import prometheus as module
from vllmwatch.stack.address import Address
from vllmwatch.stack.apt import machine_distribution
from vllmwatch.stack.apt_sources import Distribution
from vllmwatch.stack.prometheus import Prometheus, find, version_of
from vllmwatch.stack.prometheus_config import prometheus_config
from vllmwatch.stack.version import Version


def put_program(folder: Path, version: str) -> Path:
    """Put a program in place that answers --version as Prometheus does."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "prometheus"
    path.write_text(f"#!/bin/sh\necho 'prometheus, version {version} (branch: HEAD)'\n")
    path.chmod(0o755)
    return path


def test_new_enough_on_path_is_taken(tmp_path: Path) -> None:
    path = put_program(tmp_path / "bin", "2.53.0")
    said: list[str] = []
    found = find(tmp_path / "state", said.append, search_path=str(path.parent))
    assert found == Prometheus(path, Version(2, 53, 0))
    assert said == []


def test_older_on_path_is_named_and_an_unpacked_one_taken(tmp_path: Path) -> None:
    old = put_program(tmp_path / "bin", "2.52.9")
    put_program(tmp_path / "state" / "trixie" / "usr" / "bin", "2.53.3")
    newest = put_program(tmp_path / "state" / "forky" / "usr" / "bin", "3.5.0")
    put_program(tmp_path / "state" / "bookworm" / "usr" / "bin", "2.42.0")
    said: list[str] = []
    found = find(tmp_path / "state", said.append, search_path=str(old.parent))
    assert found == Prometheus(newest, Version(3, 5, 0))
    assert said == [f"{old} is Prometheus 2.52.9: at least 2.53.0 is needed, so it is left aside"]


def test_page_is_used_only_where_it_is_whole(tmp_path: Path) -> None:
    path = put_program(tmp_path / "usr" / "bin", "2.53.3")
    web = tmp_path / "usr" / "share" / "prometheus" / "web"
    assert module.unpacked(tmp_path) == Prometheus(path, Version(2, 53, 3))
    (web / "static").mkdir(parents=True)
    (web / "static" / "jquery").symlink_to("../../../javascript/jquery")
    assert module.unpacked(tmp_path) == Prometheus(path, Version(2, 53, 3)), "a folder without templates"
    (web / "templates").mkdir()
    (web / "templates" / "_base.html").touch()
    assert module.unpacked(tmp_path) == Prometheus(path, Version(2, 53, 3)), "scripts are missing"
    (tmp_path / "usr" / "share" / "javascript" / "jquery").mkdir(parents=True)
    assert module.unpacked(tmp_path) == Prometheus(path, Version(2, 53, 3), web)


def test_neither_debian_nor_ubuntu_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "machine_distribution", lambda: None)
    with pytest.raises(StartError, match="neither Debian nor Ubuntu") as caught:
        find(tmp_path, print, search_path=str(tmp_path))
    assert "--no-prometheus" in caught.value.hint


def test_program_that_does_not_run_has_no_version(tmp_path: Path) -> None:
    (tmp_path / "prometheus").write_text("#!/bin/sh\nexit 1\n")
    assert version_of(tmp_path / "prometheus") is None
    (tmp_path / "prometheus").chmod(0o755)
    assert version_of(tmp_path / "prometheus") is None


@pytest.mark.real_prometheus
def test_package_is_unpacked_beside_the_system_and_only_once(tmp_path: Path) -> None:
    distribution = machine_distribution()
    if distribution is None:
        pytest.skip("neither Debian nor Ubuntu")
    said: list[str] = []
    found = find(tmp_path, said.append, search_path=str(tmp_path))
    assert found.version >= Version(2, 53)
    assert version_of(found.path) == found.version
    assert said[0] == f"Looking for Prometheus in the packages of {distribution.name} {distribution.codename}"
    assert [path.name for path in tmp_path.iterdir()] == [found.path.parents[2].name], "lists or downloads were left"
    said.clear()
    assert find(tmp_path, said.append, search_path=str(tmp_path)) == found
    assert said == []


@pytest.mark.real_prometheus
def test_suite_whose_prometheus_is_too_old_is_refused(tmp_path: Path) -> None:
    distribution = machine_distribution()
    if distribution is None:
        pytest.skip("neither Debian nor Ubuntu")
    with pytest.raises(StartError, match=r"has Prometheus \d+\.\d+\.\d+, at least 99\.0\.0 is needed"):
        module.fetch_from_suite(distribution, distribution.codename, tmp_path, Version(99, 0))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.real_prometheus
def test_suite_that_the_mirror_lacks_is_refused_with_apts_words(tmp_path: Path) -> None:
    distribution = machine_distribution()
    if distribution is None:
        pytest.skip("neither Debian nor Ubuntu")
    absent = Distribution(distribution.name, distribution.codename)
    with pytest.raises(StartError, match="apt-get update for no-such-suite failed: E: "):
        module.fetch_from_suite(absent, "no-such-suite", tmp_path)


@pytest.mark.real_prometheus
def test_promtool_accepts_the_configuration(prometheus_program: Prometheus, tmp_path: Path) -> None:
    path = tmp_path / "prometheus.yml"
    path.write_text(prometheus_config(Address("::", 9836), tmp_path / "rules"))
    assert 'targets: ["[::1]:9836"]' in path.read_text()
    checked = subprocess.run(
        [prometheus_program.promtool, "check", "config", path], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
