"""The settings that the documents show are taken by the program, each block by itself.

A block of YAML is a vllmwatch.yml, unless its first line is a comment that names the file of another program.
"""

import re
import subprocess
import textwrap
from pathlib import Path

import pytest

from tests.real.places import ROOT
from vllmwatch.catalog.settings import SETTINGS
from vllmwatch.config import Config, load_config
from vllmwatch.render.setting_examples import EXAMPLES
from vllmwatch.stack.prometheus import Prometheus

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(r"^( *)```yaml\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_OTHER = re.compile(r"# (\S+\.ya?ml)")


def blocks(page: Path) -> list[tuple[str, str]]:
    """Return the blocks of YAML of a page, each with the file of another program that it is of, or nothing."""
    found = [textwrap.dedent(match[2]) for match in _BLOCK.finditer(page.read_text())]
    others = [_OTHER.fullmatch(text.partition("\n")[0]) for text in found]
    return [(other[1] if other else "", text) for other, text in zip(others, found, strict=True)]


OURS = [
    pytest.param(text, id=f"{page.name}-{number}")
    for page in PAGES
    for number, (other, text) in enumerate(blocks(page), 1)
    if not other
]


def loaded(text: str, folder: Path) -> Config:
    """Return the settings of a file with this text."""
    file = folder / "vllmwatch.yml"
    file.write_text(text)
    return load_config({}, {}, file=file, hostname="here", directory=folder)


@pytest.mark.parametrize("text", OURS)
def test_settings_that_a_document_shows_are_taken(text: str, tmp_path: Path) -> None:
    config = loaded(text, tmp_path)
    assert any(origin.startswith(str(tmp_path)) for origin in config.origins.values())


def test_the_examples_of_the_settings_page_are_taken_together(tmp_path: Path) -> None:
    shown = blocks(ROOT / "docs" / "reference" / "settings.md")
    config = loaded("".join(text for _, text in shown), tmp_path)
    assert [(server.server, server.gpus) for server in config.servers] == [
        ("head:8000", ("0", "GPU-8932f937", "0000:3b:00.0"))
    ]
    set_here = {key for key, origin in config.origins.items() if origin.startswith(str(tmp_path))}
    assert set_here == {setting.key for setting in SETTINGS if setting.form in EXAMPLES}


@pytest.mark.real_prometheus
def test_settings_of_prometheus_that_a_document_shows_are_taken(newest_prometheus: Prometheus, tmp_path: Path) -> None:
    texts = [text for page in PAGES for other, text in blocks(page) if Path(other).name == "prometheus.yml"]
    assert len(texts) > 1
    for text in texts:
        (tmp_path / "prometheus.yml").write_text(text)
        words = ["check", "config", "--lint=all", str(tmp_path / "prometheus.yml")]
        checked = subprocess.run(
            [newest_prometheus.promtool, *words], capture_output=True, text=True, timeout=60, check=False
        )
        assert checked.returncode == 0, checked.stderr


def test_each_block_of_yaml_is_found() -> None:
    text = "".join(page.read_text() for page in PAGES)
    assert len([block for page in PAGES for block in blocks(page)]) == text.count("```yaml") > len(OURS) > 0
