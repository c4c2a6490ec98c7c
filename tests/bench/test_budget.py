"""The budgets that tests can hold without a machine of their own; `make bench` measures all of them."""

from pathlib import Path
from statistics import median

import pytest

from tests.bench.endurance import MOST_BYTES, MOST_GROWTH, resident_over
from tests.bench.figures import Figure
from tests.bench.page_server import PAGE, VARIANTS, pages
from tests.bench.translation import MOST, take_turns
from tests.exporter.vllm.pages import samples_of

ROUNDS = 15


def test_translating_and_merging_cost_a_twentieth_of_parsing() -> None:
    turns = take_turns(ROUNDS)
    assert len(turns.ours) == len(turns.parser) == ROUNDS
    assert median(turns.ours) <= MOST * median(turns.parser)


def test_the_pages_keep_their_series_and_move_their_values() -> None:
    variants = pages()
    recorded = samples_of(PAGE.read_text())
    first, later = samples_of(variants[0].decode()), samples_of(variants[5].decode())
    assert len(variants) == VARIANTS
    assert first == recorded
    assert later.keys() == recorded.keys()
    moved = {key for key, value in later.items() if value != recorded[key]}
    assert {name for name, _ in moved} >= {"vllm:generation_tokens_total", "vllm:e2e_request_latency_seconds_bucket"}
    assert all(later[key] > recorded[key] for key in moved)


@pytest.mark.parametrize(("ratio", "budget", "missed"), [(0.11, True, True), (0.1, True, False), (0.9, False, False)])
def test_only_a_budget_can_be_missed(ratio: float, budget: bool, missed: bool) -> None:
    figure = Figure("a", ratio, "", most=0.1, budget=budget)
    assert figure.missed is missed
    assert ("MISSED" in figure.line()) is missed


@pytest.mark.long
@pytest.mark.fake_nvml
@pytest.mark.timeout(900)
def test_memory_stays_flat_over_ten_thousand_scrapes(fake_nvml_folder: Path, tmp_path: Path) -> None:
    start, settled, end = resident_over(tmp_path, 10_000)
    assert max(start, settled, end) <= MOST_BYTES
    assert end <= MOST_GROWTH * settled
