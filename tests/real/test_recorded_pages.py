"""Each recorded page is accounted for in the note beside it, and is a vLLM page."""

import re
from pathlib import Path

import pytest

from tests.real.record_pages import FOLDER, RECORDINGS
from tests.real.vllm_environment import VLLM_VERSION

PAGES = sorted(FOLDER.glob("*.prom"))
NOTE = (FOLDER / "README.md").read_text()
NAME = re.compile(r"vllm_(?P<version>\d+\.\d+\.\d+)_(?P<name>\w+)\.prom")


def test_every_recording_of_the_version_under_test_is_there() -> None:
    there = {path.name for path in PAGES}
    assert {f"vllm_{VLLM_VERSION}_{recording.name}.prom" for recording in RECORDINGS} <= there


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page_has_its_row_in_the_note_and_holds_vllm_series(page: Path) -> None:
    found = NAME.fullmatch(page.name)
    assert found is not None
    assert f"| {found['name']} |" in NOTE
    assert f"| {found['version']} |" in NOTE
    # In OpenMetrics, prometheus_client writes the names of samples with "_" in the place of ":".
    assert re.search(r"^vllm[:_]num_requests_running\{", page.read_text(), re.MULTILINE)
