"""How many tokens the KV cache of each engine holds, by the pages of all releases."""

import re
from pathlib import Path

import pytest

from tests.exporter.vllm.pages import RECORDED, fetched, translator
from vllmwatch.exporter.vllm.cache_size import KvCacheSize
from vllmwatch.exporter.vllm.translator import TranslatedPage


def sizes(page: str | bytes, *, openmetrics: bool = False) -> tuple[KvCacheSize, ...]:
    translated = translator().translate(fetched(page, openmetrics=openmetrics))
    assert isinstance(translated, TranslatedPage)
    return translated.plan.facts.kv_cache_sizes


def info(**labels: str) -> str:
    text = ",".join(f'{key}="{value}"' for key, value in labels.items())
    head = "# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n"
    return f"{head}# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{{{text}}} 1\n"


def _pages() -> list[Path]:
    return sorted(path for path in RECORDED.glob("*.prom") if "cache_config_info{" in path.read_text())


@pytest.mark.parametrize("path", _pages(), ids=lambda path: path.stem)
def test_every_recorded_page_that_states_a_size_gives_it(path: Path) -> None:
    """The figures are read from the page's own text, in a way that knows nothing of names and engines."""
    text = path.read_text()
    line = re.search(r"^vllm[:_]cache_config_info\{.*", text, re.MULTILINE)
    assert line is not None
    stated = re.search(r'kv_cache_size_tokens="(\d+)"', line[0])
    blocks = re.search(r'num_gpu_blocks="(\d+)"', line[0])
    block = re.search(r'[{,]block_size="(\d+)"', line[0])
    found = sizes(text, openmetrics="openmetrics" in path.stem)
    if stated is not None:
        assert {(size.tokens, size.estimated) for size in found} == {(int(stated[1]), False)}
    elif blocks is not None and block is not None:
        assert {(size.tokens, size.estimated) for size in found} == {(int(blocks[1]) * int(block[1]), True)}
    else:
        assert found == ()


def test_releases_from_0_24_on_state_tokens_and_older_ones_blocks() -> None:
    stating: dict[bool, set[int]] = {}
    for path in _pages():
        release = re.match(r"vllm_0\.(\d+)\.", path.name)
        assert release is not None
        for size in sizes(path.read_bytes(), openmetrics="openmetrics" in path.stem):
            stating.setdefault(size.estimated, set()).add(int(release[1]))
    assert min(stating[False]) == 24
    assert max(stating[True]) < 24


def test_each_engine_of_a_page_has_its_size() -> None:
    found = sizes((RECORDED / "vllm_0.32.0_data_parallel_2.prom").read_bytes())
    assert [size.engine for size in found] == ["0", "1"]


def test_blocks_are_an_estimate_and_tokens_win() -> None:
    assert sizes(info(num_gpu_blocks="40", block_size="128")) == (KvCacheSize("0", 5120, estimated=True),)
    hybrid = info(num_gpu_blocks="40", block_size="128", kv_cache_size_tokens="4321", engine="2")
    assert sizes(hybrid) == (KvCacheSize("2", 4321, estimated=False),)


@pytest.mark.parametrize("tokens", ["None", "", "-5", "1.5", "0", "²", "9" * 16])
def test_what_is_no_number_of_tokens_is_not_taken_for_one(tokens: str) -> None:
    assert sizes(info(kv_cache_size_tokens=tokens)) == ()
    assert sizes(info(kv_cache_size_tokens="7", num_gpu_blocks=tokens, block_size="16"))[0].tokens == 7
    assert sizes(info(num_gpu_blocks=tokens, block_size="16")) == ()
