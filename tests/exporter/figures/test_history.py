"""What the exporter remembers: bounded, and nothing that no page can mean."""

import gc
import math
import threading
import tracemalloc
from array import array
from collections.abc import Sequence

import pytest

from tests.exporter.vllm.pages import translate
from vllmwatch.catalog.objectives import OBJECTIVES, Objective
from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.figures import history
from vllmwatch.exporter.figures.engine import EngineView
from vllmwatch.exporter.figures.history import Moment, Moments, TargetHistory
from vllmwatch.exporter.figures.latency import server_latencies
from vllmwatch.exporter.figures.layout import HTTP_REQUESTS, KV_USAGE, RUNNING, Key, lay_out
from vllmwatch.exporter.figures.reckoner import Reckoner
from vllmwatch.exporter.figures.server import Prices
from vllmwatch.exporter.vllm.plan import PagePlan
from vllmwatch.exporter.vllm.translator import TranslatedPage
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.target import Origin, Target
from vllmwatch.sources.xid import NO_XIDS
from vllmwatch.spec.reason import Reason

RUNS = "# TYPE vllm:num_requests_running gauge\n" + 'vllm:num_requests_running{engine="0",model_name="m"} 1\n'


def sample(page: TranslatedPage | None) -> TargetSample:
    target = Target("http://h:8000/metrics", "h:8000", "h", Origin.STATIC)
    return TargetSample(target, Facts("server", "", "m"), page, None if page else Reason.GONE, "", 0.1)


def page_with(value: str) -> TranslatedPage:
    """Return a page whose every series has the same value, whatever that is."""
    text = RUNS.replace(" 1\n", f" {value}\n")
    text += f'# TYPE vllm:kv_cache_usage_perc gauge\nvllm:kv_cache_usage_perc{{engine="0",model_name="m"}} {value}\n'
    for name in ("prompt_tokens", "generation_tokens"):
        text += f'# TYPE vllm:{name}_total counter\nvllm:{name}_total{{engine="0",model_name="m"}} {value}\n'
    text += "# TYPE vllm:e2e_request_latency_seconds histogram\n"
    for edge in ("1.0", "2.0", "+Inf"):
        text += f'vllm:e2e_request_latency_seconds_bucket{{engine="0",model_name="m",le="{edge}"}} {value}\n'
    text += f'vllm:e2e_request_latency_seconds_count{{engine="0",model_name="m"}} {value}\n'
    return translate(text)


def observed(*pages: TranslatedPage | None) -> Reckoner:
    found = Reckoner()
    found.configure(15, Prices(0.0, 0.0))
    for number, page in enumerate(pages):
        found.observe(collection(1.8e9 + 15 * number, page))
    return found


def collection(at: float, page: TranslatedPage | None) -> Collection:
    return Collection((sample(page),), (), None, NO_XIDS, 0.1, at)


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-Inf", "1.7e308", "-1.7e308"])
def test_what_no_page_can_mean_is_absent_from_figures(value: str) -> None:
    figures = observed(*(page_with(str(number)) for number in range(3)), page_with(value)).figures()
    engine = figures.engines["h:8000", "0", "m"]
    assert "requests_running:max" not in engine
    assert "kv_cache_usage_ratio:max" not in engine
    # Three good samples within 30 of the 45 seconds tell 1/15 a second, over a window of which one interval is missing.
    rate = engine["prompt_tokens:rate5m"]
    assert isinstance(rate, float)
    assert 0 < rate < 1
    numbers = [number for own in (engine, figures.servers["h:8000"], figures.models["m"]) for number in own.values()]
    assert all(math.isfinite(number) for number in numbers if isinstance(number, float))


def test_an_edge_that_is_no_number_costs_its_own_bucket() -> None:
    text = "# TYPE vllm:e2e_request_latency_seconds histogram\n"
    for edge in ("soon", "NaN", "2.0", "+Inf"):
        text += f'vllm:e2e_request_latency_seconds_bucket{{engine="0",le="{edge}"}} 1\n'
    found = lay_out(translate(RUNS + text).plan, OBJECTIVES)
    assert found.extras("vllm:e2e_request_latency_seconds_bucket", "0") == [("2.0",), ("+Inf",)]


def test_series_that_differ_in_a_label_of_no_interest_are_one() -> None:
    text = "# TYPE vllm:kv_cache_usage_perc gauge\n"
    for pid, usage in ((1, 0.25), (2, 0.75), (3, 0.5)):
        text += f'vllm:kv_cache_usage_perc{{engine="0",model_name="m",pid="{pid}"}} {usage}\n'
    remembered = TargetHistory()
    remembered.observe(sample(translate(RUNS + text)), 15.0, OBJECTIVES)
    assert remembered.value(Key(KV_USAGE, "0", "m"), 15.0) == 0.75
    assert remembered.value(Key(RUNNING, "0", "m"), 15.0) == 1


def test_pages_whose_series_change_each_time_are_remembered_for_less_long() -> None:
    moments: Moments[int] = Moments(3600)
    for number in range(100):
        first = number * 2000
        places = {key: place for place, key in enumerate(range(first, first + 2000))}
        moments.add(Moment(15.0 * number, places, array("d", [1.0]) * 2000))
    last = 15.0 * 99
    assert moments.window(first, 3600, last).values == [1.0]
    kept = [moments.at(15.0 * number) is not None for number in range(100)]
    assert kept.count(True) == history._MOST_NAMES // 2000


def test_pages_with_the_same_series_are_remembered_whatever_their_number() -> None:
    moments: Moments[int] = Moments(3600)
    for number in range(100):
        places = {key: key for key in range(2000)}
        moments.add(Moment(15.0 * number, places, array("d", [float(number)]) * 2000))
    assert len(moments.window(0, 3600, 15.0 * 99).values) == 100


def test_a_target_that_is_gone_for_long_holds_no_page() -> None:
    remembered = TargetHistory()
    remembered.observe(sample(translate(RUNS)), 0.0, OBJECTIVES)
    remembered.observe(sample(None), 600.0, OBJECTIVES)
    assert list(remembered.layout.engines()) == [("0", "m")]
    for number in range(70):
        remembered.observe(sample(None), 900.0 + 15 * number, OBJECTIVES)
    assert not any(isinstance(each, PagePlan) for each in gc.get_referents(vars(remembered)))
    assert list(remembered.layout.engines()) == []


def test_an_hour_of_a_target_that_is_gone_takes_little_memory() -> None:
    tracemalloc.start()
    try:
        remembered = TargetHistory()
        for number in range(1000):
            remembered.observe(sample(None), 15.0 * number, OBJECTIVES)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 40_000


def test_twenty_thousand_series_of_one_key_are_laid_out_at_once() -> None:
    text = "# TYPE http_requests_total counter\n"
    for pid in range(20_000):
        text += f'http_requests_total{{handler="/x",method="GET",status="2xx",pid="{pid}"}} {pid}\n'
    found = lay_out(translate(RUNS + text).plan, OBJECTIVES)
    assert found.extras(HTTP_REQUESTS) == [("/x", "GET", "2xx")]
    assert {shown for _, shown in found.again} == {found.places[Key(HTTP_REQUESTS, extra=("/x", "GET", "2xx"))]}
    assert len(found.again) == 19_999


def test_a_collection_does_not_wait_for_figures_that_are_being_reckoned(monkeypatch: pytest.MonkeyPatch) -> None:
    subject = observed(translate(RUNS))
    begun, go_on = threading.Event(), threading.Event()

    def slow(engines: Sequence[EngineView], objectives: Sequence[Objective]) -> object:
        begun.set()
        assert go_on.wait(10)
        return server_latencies(engines, objectives)

    monkeypatch.setattr("vllmwatch.exporter.figures.reckoner.server_latencies", slow)
    asking = threading.Thread(target=subject.figures)
    asking.start()
    try:
        assert begun.wait(10)
        # These come back although the other thread holds on to what they are to change.
        subject.configure(15, Prices(1.0, None))
        subject.observe(collection(1.8e9 + 15, translate(RUNS.replace(" 1\n", " 7\n"))))
    finally:
        go_on.set()
        asking.join()
    assert subject.figures().engines["h:8000", "0", "m"]["requests_running:max"] == 7


def test_a_clock_that_is_set_back_or_ahead_costs_the_windows_and_not_the_figures() -> None:
    subject = observed(*(page_with(str(number)) for number in range(5)))
    for at in (1.8e9 - 86_400, 1.8e9 + 86_400, 1.8e9 + 86_415):
        subject.observe(collection(at, page_with("9")))
    engine = subject.figures().engines["h:8000", "0", "m"]
    assert engine["requests_running:max"] == 9
    assert engine["prompt_tokens:rate5m"] == 0
