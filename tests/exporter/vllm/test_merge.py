"""Pages of several targets as one."""

from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from tests.exporter.vllm.pages import (
    RECORDED,
    Series,
    fetched,
    samples_of,
    text_of,
    translate,
    translator,
    type_of,
    values,
)
from vllmwatch.exporter.vllm.merge import Merger
from vllmwatch.exporter.vllm.translator import TranslatedPage

PAGES = sorted(RECORDED.glob("*.prom"))


# What releases before 0.11 called two things, and the names that they have kept since.
OLD_NAMES = {
    "vllm:gpu_cache_usage_perc": "vllm:kv_cache_usage_perc",
    "vllm:time_per_output_token_seconds": "vllm:inter_token_latency_seconds",
}
# From 0.9 on these count tokens, under this name until 0.11 and beside the new one; before, blocks.
OLD_TOKEN_COUNTERS = {
    "vllm:gpu_prefix_cache_queries": "vllm:prefix_cache_queries",
    "vllm:gpu_prefix_cache_hits": "vllm:prefix_cache_hits",
}

# V0 wrote -1 where it did not know.
UNKNOWN = {("vllm:gpu_prefix_cache_hit_rate", -1.0), ("vllm:cpu_prefix_cache_hit_rate", -1.0)}

OF_THE_SERVER = {"vllm:admission_rejections", "vllm:lora_requests_info"}


def upstream_samples(path: Path) -> dict[Series, float]:
    """Read a recorded page with prometheus_client and say by hand what should become of each series."""
    openmetrics = "openmetrics" in path.name
    read = read_openmetrics if openmetrics else read_text
    # vLLM's OpenMetrics page has underscores for the colons in the names of its samples, and of them alone.
    families = list(read(path.read_text().replace("\nvllm_", "\nvllm:")))
    names = {family.name for family in families}
    found: dict[Series, float] = {}
    for family in families:
        new = OLD_NAMES.get(family.name)
        if new is None and "tokens" in family.documentation.replace("queriedtokens", "tokens"):
            new = OLD_TOKEN_COUNTERS.get(family.name)
        if new in names:
            continue
        for sample in family.samples:
            if sample.name.endswith("_created") or sample.name.startswith("python_"):
                continue
            if (sample.name, sample.value) in UNKNOWN:
                continue
            labels = {**sample.labels, "server": path.stem, "node": "box"}
            if family.name.startswith("vllm:") and family.name not in OF_THE_SERVER:
                labels.setdefault("engine", "0")
            name = sample.name if new is None else new + sample.name.removeprefix(family.name)
            found[name, tuple(sorted(labels.items()))] = sample.value
    return found


def test_all_recorded_pages_together_have_every_value_of_each() -> None:
    pages = [
        translate(path.read_bytes(), openmetrics="openmetrics" in path.name, server=path.stem, node="box")
        for path in PAGES
    ]
    merged = samples_of(text_of(*pages))
    expected: dict[Series, float] = {}
    for path in PAGES:
        expected |= upstream_samples(path)
    assert len(expected) > 15_000
    assert merged == expected


def test_a_family_stands_once_with_the_samples_of_all() -> None:
    page = (
        "# HELP vllm:num_requests_running Words.\n# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n"
    )
    text = text_of(translate(page, server="a:1"), translate(page, server="b:2"))
    assert text.count("# TYPE vllm:num_requests_running gauge") == 1
    assert text.count("# HELP") == 1
    assert text.count("vllm:num_requests_running{") == 2


@pytest.mark.parametrize(("first", "second"), [("gauge", "counter"), ("histogram", "gauge"), ("counter", "summary")])
def test_of_two_types_for_one_family_the_first_stands(first: str, second: str) -> None:
    page = "# TYPE odd {0}\nodd{1} 1\n# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 1\n"
    suffix = {"histogram": "_count", "summary": "_count"}
    pages = [translate(page.format(kind, suffix.get(kind, "")), server=f"{kind}:1") for kind in (first, second)]
    merged = Merger().merge(pages)
    text = b"".join(merged.chunks).decode()
    assert type_of(text, "odd") == first
    assert merged.conflicts == [0, 1]
    assert len(values(text, "vllm:num_requests_running")) == 1
    assert sum(sample == "vllm:num_requests_running" for sample, _ in samples_of(text)) == 2


def test_a_type_stays_with_a_family_from_scrape_to_scrape() -> None:
    one = translate("# TYPE odd gauge\nodd 1\n", server="a:1")
    other = translate("# TYPE odd counter\nodd 2\n", server="b:1")
    merger = Merger()
    assert merger.merge([one, other]).conflicts == [0, 1]
    assert merger.merge([other, one]).conflicts == [1, 0]


def test_what_was_decided_serves_page_after_page() -> None:
    page = (
        "# HELP vllm:num_requests_running 100% busy: %s.\n# TYPE vllm:num_requests_running gauge\n"
        'vllm:num_requests_running{model_name="50%b"} {0}\n# TYPE odd counter\nodd_total {1}\n'
    )
    more = page + 'odd_total{kind="new"} 7\n'
    one, other = translator(server="a:1"), translator(server="b:1")
    merger = Merger()
    for number, (first, second) in enumerate([(page, page), (page, page), (more, page), (more, more), (page, page)]):
        pages = []
        for told, text in ((one, first), (other, second)):
            moved = text.replace("{0}", str(number)).replace("{1}", str(number * 2.5))
            translated = told.translate(fetched(moved))
            assert isinstance(translated, TranslatedPage)
            pages.append(translated)
        order = pages if number != 1 else pages[::-1]
        merged = merger.merge(order)
        expected = Merger().merge(order)
        assert merged.chunks == expected.chunks
        assert merged.conflicts == [0, 0]
        found = samples_of(b"".join(merged.chunks).decode())
        assert {value for (name, labels), value in found.items() if name == "vllm:num_requests_running"} == {number}
        assert b"# HELP vllm:num_requests_running 100% busy: %s.\n" in b"".join(merged.chunks)
        assert len(found) == 4 + (first, second).count(more)


def test_a_type_that_was_kept_out_comes_in_once_the_other_is_gone() -> None:
    one = translate("# TYPE odd gauge\nodd 1\n", server="a:1")
    other = translate("# TYPE odd counter\nodd 2\n", server="b:1")
    merger = Merger()
    conflicts = [merger.merge(pages).conflicts for pages in ([one, other], [one, other], [other], [other], [other])]
    assert conflicts == [[0, 1], [0, 1], [1], [0], [0]]
    assert merger.merge([]).chunks == [b""]


def test_an_untyped_family_joins_a_plain_type_and_no_histogram() -> None:
    typed = translate("# TYPE odd gauge\nodd 1\n", server="a:1")
    untyped = translate("odd 2\n", server="b:1")
    histogram = translate('# TYPE odd histogram\nodd_bucket{le="+Inf"} 1\nodd_sum 1\nodd_count 1\n', server="c:1")
    for order in ((typed, untyped), (untyped, typed)):
        text = text_of(*order)
        assert type_of(text, "odd") == "gauge"
        assert sum(name == "odd" for name, _ in samples_of(text)) == 2
    assert Merger().merge([untyped, histogram]).conflicts == [1, 0]
    assert Merger().merge([histogram, untyped]).conflicts == [0, 1]


def test_a_name_that_is_a_series_of_a_histogram_is_no_family_of_its_own() -> None:
    histogram = translate('# TYPE odd histogram\nodd_bucket{le="+Inf"} 1\nodd_sum 1\nodd_count 1\n', server="a:1")
    plain = translate("# TYPE odd_count gauge\nodd_count 5\n", server="b:1")
    assert Merger().merge([histogram, plain]).conflicts == [0, 1]
    assert Merger().merge([plain, histogram]).conflicts == [0, 3]


def test_a_page_without_types_takes_no_name_from_those_that_have_them() -> None:
    silent = translate("vllm:num_requests_running 1\nother_count 1\n", server="a:1")
    spoken = translate('# TYPE other histogram\nother_bucket{le="+Inf"} 1\nother_sum 1\nother_count 1\n', server="b:1")
    for order in ([silent, spoken], [spoken, silent]):
        merged = Merger().merge(order)
        assert sum(merged.conflicts) == 1
        assert type_of(b"".join(merged.chunks).decode(), "other") == "histogram"


def test_a_liar_about_a_part_of_a_known_histogram_costs_itself_alone() -> None:
    name = "vllm:e2e_request_latency_seconds"
    liar = translate(f"# TYPE vllm:x gauge\nvllm:x 1\n# TYPE {name}_count gauge\n{name}_count 1\n", server="a:1")
    honest = translate((RECORDED / "vllm_0.32.0_loaded.prom").read_bytes(), server="b:1")
    text = text_of(liar, honest)
    assert type_of(text, name) == "histogram"
    assert Merger().merge([liar, honest]).conflicts == [0, 0]
    assert sum(series == f"{name}_count" for series, _ in samples_of(text)) == 1
