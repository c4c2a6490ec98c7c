"""The page of the Prometheus that `vllmwatch up` takes from the distribution is whole: scripts, styles, fonts."""

import html
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urljoin, urlsplit

import pytest
import requests

from tests.real.places import free_port, last_lines
from tests.real.prometheus_programs import SUITES
from vllmwatch.errors import StartError
from vllmwatch.stack.address import Address
from vllmwatch.stack.apt import machine_distribution
from vllmwatch.stack.prometheus import Prometheus, fetch_from_suite
from vllmwatch.stack.prometheus_config import prometheus_command, prometheus_config

pytestmark = pytest.mark.real_prometheus

REFERENCE = re.compile(r'\b(?:src|href)="([^"#][^"]*)"')
STYLE_REFERENCE = re.compile(r"url\(['\"]?([^'\")?#]+)")


@pytest.fixture(scope="module")
def fetched(tmp_path_factory: pytest.TempPathFactory) -> Prometheus:
    """Return a Prometheus just fetched, of the line whose packages still have a page (2.53)."""
    distribution = machine_distribution()
    if distribution is None:
        pytest.skip("neither Debian nor Ubuntu")
    try:
        suite = SUITES["oldest"][distribution.name]
        return fetch_from_suite(distribution, suite, tmp_path_factory.mktemp("fetched"))
    except StartError as error:
        pytest.skip(error.message)


@contextmanager
def running(program: Prometheus, folder: Path) -> Iterator[str]:
    """Run a Prometheus as `vllmwatch up` does, and give its URL."""
    config, log = folder / "prometheus.yml", folder / "prometheus.log"
    config.write_text(prometheus_config(Address("127.0.0.1", free_port()), folder / "rules"))
    listen = Address("127.0.0.1", free_port())
    command = prometheus_command(program, config, folder / "data", listen, "1d")
    with log.open("wb") as stream:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
        )
    try:
        wait_ready(f"{listen.url}/-/ready", process, log)
        yield listen.url
    finally:
        process.terminate()
        process.wait(20)


def wait_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a URL answers 200."""
    deadline = time.monotonic() + 60
    while True:
        assert process.poll() is None, last_lines(log)
        assert time.monotonic() < deadline, last_lines(log)
        try:
            if requests.get(url, timeout=2).status_code == 200:
                return
        except requests.RequestException:
            time.sleep(0.1)


def test_page_and_all_that_it_names_are_there(fetched: Prometheus, tmp_path: Path) -> None:
    with running(fetched, tmp_path) as url:
        page = requests.get(f"{url}/", timeout=10)
        assert (page.status_code, "Prometheus" in page.text) == (200, True)
        references = {urljoin(page.url, html.unescape(found)) for found in REFERENCE.findall(page.text)}
        # "New UI" leads to the page that Debian does not package; the classic one is whole without it.
        references.remove(f"{url}/graph")
        own = sorted(each for each in references if urlsplit(each).netloc == urlsplit(url).netloc)
        answers = {each: requests.get(each, timeout=10) for each in own}
        assert {each: answer.status_code for each, answer in answers.items()} == dict.fromkeys(own, 200)
        assert sum(".js?" in each for each in own) > 5
        assert all(answer.content for answer in answers.values())
        styles = {each: answer.text for each, answer in answers.items() if ".css?" in each}
        fonts = sorted(
            {
                urljoin(each, found)
                for each, text in styles.items()
                for found in STYLE_REFERENCE.findall(text)
                if not found.startswith("data:")
            }
        )
        assert [each for each in fonts if requests.get(each, timeout=10).status_code != 200] == []


def test_unpacked_folder_holds_no_broken_link(fetched: Prometheus) -> None:
    web = fetched.path.parents[1] / "share" / "prometheus" / "web"
    assert fetched.web == web
    links = [path for path in web.rglob("*") if path.is_symlink()]
    assert len(links) > 5
    assert [link for link in links if not link.exists()] == []


def test_program_whose_page_is_its_own_business_is_not_told_of_one(fetched: Prometheus, tmp_path: Path) -> None:
    installed = Prometheus(fetched.path, fetched.version)
    command = prometheus_command(installed, tmp_path / "p.yml", tmp_path, Address("127.0.0.1", 9090), "1d")
    assert not any("local-assets" in word for word in command)
