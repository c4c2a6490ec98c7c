"""Recorded pages that move stay pages that a server could have written."""

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.exporter.vllm.pages import RECORDED
from tests.real.moving_pages import START, MovingPage

LOADED = (RECORDED / "vllm_0.32.0_loaded.prom").read_text()
CONNECTORS = (RECORDED / "vllm_0.33.0_registry_connectors.prom").read_text()
TOKENS = "vllm:generation_tokens_total"
LATENCY = "vllm:e2e_request_latency_seconds"
TRANSFER = "vllm:nixl_xfer_time_seconds"
USAGE = "vllm:kv_cache_usage_perc"


class Clock:
    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def values(text: str, name: str) -> list[float]:
    families = text_string_to_metric_families(text)
    return [sample.value for family in families for sample in family.samples if sample.name == name]


def test_page_that_has_not_moved_says_what_was_recorded(clock: Clock) -> None:
    before = list(text_string_to_metric_families(LOADED))
    assert list(text_string_to_metric_families(MovingPage(LOADED, clock=clock).text())) == before


def test_counters_and_all_parts_of_histograms_grow_by_one_share(clock: Clock) -> None:
    page = MovingPage(LOADED, share=0.5, clock=clock)
    clock.seconds += 10
    text = page.text()
    for name in (TOKENS, f"{LATENCY}_count", f"{LATENCY}_sum", f"{LATENCY}_bucket"):
        assert values(text, name) == pytest.approx([6 * value for value in values(LOADED, name)]), name
    assert values(text, f"{LATENCY}_count")[0] >= 24 * 6
    assert values(text, USAGE) == values(LOADED, USAGE)
    assert values(text, START) == values(LOADED, START)


@pytest.mark.parametrize("seconds", [0.0, 0.7, 3.3, 1234.5])
def test_histograms_that_were_empty_stay_histograms_when_they_fill(clock: Clock, seconds: float) -> None:
    page = MovingPage(CONNECTORS, fill=3.0, clock=clock)
    clock.seconds += seconds
    buckets = values(page.text(), f"{TRANSFER}_bucket")
    assert buckets == sorted(buckets)
    assert buckets[-1] == values(page.text(), f"{TRANSFER}_count")[0] == int(3 * seconds)


def test_samples_are_set_and_stepped_by_name_and_labels(clock: Clock) -> None:
    aborts = 'vllm:request_success_total{finished_reason="abort"}'
    page = MovingPage(LOADED, share=0.0, gauges={USAGE: 0.5}, steps={aborts: 2, USAGE: 0.01}, clock=clock)
    clock.seconds += 10.25
    text = page.text()
    assert values(text, USAGE) == pytest.approx([0.6025])
    assert sorted(values(text, "vllm:request_success_total")) == [0, 0, 0, 20, 24]


def test_restart_takes_counters_back_and_moves_the_start(clock: Clock) -> None:
    page = MovingPage(LOADED, share=1.0, clock=clock)
    clock.seconds += 10
    page.restart()
    text = page.text()
    assert values(text, TOKENS) == values(LOADED, TOKENS)
    assert values(text, START) == [values(LOADED, START)[0] + 10]


def test_name_that_the_page_lacks_is_a_mistake(clock: Clock) -> None:
    with pytest.raises(AssertionError, match="has no vllm:absent"):
        MovingPage(LOADED, gauges={"vllm:absent": 1}, clock=clock)
