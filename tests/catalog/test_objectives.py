"""Objectives stand at bucket edges that the real vLLM has, and others are refused with those beside them."""

import re
from pathlib import Path

import pytest

from vllmwatch.catalog import vllm
from vllmwatch.catalog.latencies import FIRST_TOKEN, INTER_TOKEN, LATENCIES, REQUEST, Latency
from vllmwatch.catalog.objectives import OBJECTIVES, Objective, objectives
from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.spec.threshold import Thresholds
from vllmwatch.spec.upstream import UpstreamKind

PAGE = (Path(__file__).parents[1] / "data" / "vllm" / "vllm_0.32.0_loaded.prom").read_text()


@pytest.mark.parametrize("latency", LATENCIES, ids=lambda latency: latency.word)
def test_edges_are_those_of_a_real_page(latency: Latency) -> None:
    edges = re.findall(rf'^{re.escape(latency.metric)}_bucket{{.*le="([^"]+)".*}} ', PAGE, re.MULTILINE)
    assert [repr(edge) for edge in latency.edges] == [edge for edge in edges if edge != "+Inf"]


@pytest.mark.parametrize("latency", LATENCIES, ids=lambda latency: latency.word)
def test_latencies_are_histograms_of_the_catalogue(latency: Latency) -> None:
    (metric,) = [metric for metric in vllm.METRICS if metric.name == latency.metric]
    assert (metric.kind, metric.unit) == (UpstreamKind.HISTOGRAM, "seconds")


def test_the_edge_of_an_objective_is_written_as_pages_write_it() -> None:
    assert [objective.edge for objective in OBJECTIVES] == ["2.0", "2.5", "0.1", "1.0"]
    for objective in OBJECTIVES:
        assert f'{objective.latency.metric}_bucket{{engine="0",le="{objective.edge}"' in PAGE


@pytest.mark.parametrize(
    ("latency", "seconds", "near"),
    [
        (FIRST_TOKEN, 2.0, "1 s and 2.5 s"),
        (REQUEST, 0.1, "the nearest are 0.3 s$"),
        (REQUEST, 9000.0, "the nearest are 7680 s$"),
        (INTER_TOKEN, 0.11, "0.1 s and 0.15 s"),
    ],
)
def test_what_is_no_edge_is_refused_with_its_neighbours(latency: Latency, seconds: float, near: str) -> None:
    with pytest.raises(ValueError, match=near):
        Objective(latency, seconds)


def test_a_model_has_the_edge_of_its_own_threshold_and_others_keep_the_common_one() -> None:
    own = {"slow": {"request_latency_p99_seconds": 10.0}, "slower": {"request_latency_p99_seconds": 30.0}}
    own |= {"as_slow": {"request_latency_p99_seconds": 10.0}, "other": {"kv_cache_usage_ratio": 0.5}}
    request, first_token, *_ = objectives(Thresholds(DEFAULTS.everywhere, own))
    assert request.edge == "2.0"
    assert request.edges_of_models == {"10.0": ("as_slow", "slow"), "30.0": ("slower",)}
    assert first_token.edges_of_models == {}


def test_a_threshold_of_a_model_that_is_no_edge_is_refused() -> None:
    with pytest.raises(ValueError, match=r"7 s is no bucket edge .* 5 s and 10 s"):
        Objective(REQUEST, 2.0, {"slow": 7.0})
