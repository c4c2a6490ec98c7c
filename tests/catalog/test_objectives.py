"""Objectives stand at bucket edges that the real vLLM has, and others are refused with those beside them."""

import re
from pathlib import Path

import pytest

from vllmwatch.catalog import vllm
from vllmwatch.catalog.objectives import FIRST_TOKEN, INTER_TOKEN, LATENCIES, OBJECTIVES, REQUEST, Latency, Objective
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
    assert [objective.edge for objective in OBJECTIVES] == ["2.0", "2.5", "0.1"]
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
