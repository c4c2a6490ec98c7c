"""What becomes of one page: names, labels, and what is left out."""

import pytest

from tests.exporter.vllm.pages import samples_of, text_of, translate, type_of, values, why_not
from vllmwatch.spec.reason import DropReason, Reason

M = 'model_name="org/m"'


def gauge(name: str, value: str, labels: str = M) -> str:
    return f"# HELP {name} Words.\n# TYPE {name} gauge\n{name}{{{labels}}} {value}\n"


def counter(name: str, value: str, *, help_text: str = "Words.", labels: str = M) -> str:
    return f"# HELP {name} {help_text}\n# TYPE {name} counter\n{name}{{{labels}}} {value}\n"


def test_every_series_gains_server_and_node_and_engines_gain_theirs() -> None:
    text = text_of(translate(gauge("vllm:num_requests_running", "3.0"), server="h:8000", node="n1"))
    assert 'vllm:num_requests_running{model_name="org/m",engine="0",server="h:8000",node="n1"} 3.0\n' in text


def test_values_are_passed_on_to_the_letter() -> None:
    page = gauge("vllm:kv_cache_usage_perc", "9.75e-06") + "# TYPE process_virtual_memory_bytes gauge\n"
    page += "process_virtual_memory_bytes 1.17e+010\n"
    text = text_of(translate(page))
    assert "} 9.75e-06\n" in text
    assert 'process_virtual_memory_bytes{server="box:8000",node="box"} 1.17e+010\n' in text


def test_families_of_the_server_gain_no_engine() -> None:
    page = gauge("vllm:num_requests_running", "1") + counter(
        "vllm:admission_rejections_total", "2", labels='reason="r"'
    )
    page += '# TYPE http_requests_total counter\nhttp_requests_total{handler="/v1"} 4\n'
    text = text_of(translate(page))
    assert values(text, "vllm:admission_rejections_total") == {(("reason", "r"),): 2}
    assert values(text, "http_requests_total") == {(("handler", "/v1"),): 4}


def test_an_unknown_family_passes_through_untouched() -> None:
    text = text_of(translate(gauge("vllm:num_requests_running", "1") + gauge("vllm:brand_new_thing", "7", 'a="b"')))
    assert values(text, "vllm:brand_new_thing") == {(("a", "b"),): 7}
    assert type_of(text, "vllm:brand_new_thing") == "gauge"


@pytest.mark.parametrize(
    ("old", "canonical"),
    [
        ("vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("ray_vllm:gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("ray_vllm_gpu_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("kserve_vllm:kv_cache_usage_perc", "vllm:kv_cache_usage_perc"),
        ("vllm_num_requests_waiting", "vllm:num_requests_waiting"),
        ("acme_vllm:num_requests_waiting", "vllm:num_requests_waiting"),
    ],
)
def test_old_names_and_prefixes_become_canonical(old: str, canonical: str) -> None:
    text = text_of(translate(gauge(old, "0.5"), metric_prefixes=("acme_vllm:",)))
    assert values(text, canonical) == {(("engine", "0"), ("model_name", "org/m")): 0.5}
    assert old == canonical or old not in text


def test_an_underscore_prefix_counts_only_before_a_known_name() -> None:
    page = gauge("vllm:num_requests_running", "1") + gauge("vllm_exporter_build", "1")
    assert "\nvllm_exporter_build{" in text_of(translate(page))


def test_an_old_histogram_is_renamed_with_all_its_series() -> None:
    old = "vllm:time_per_output_token_seconds"
    page = f'# TYPE {old} histogram\n{old}_bucket{{le="1",{M}}} 2\n{old}_bucket{{le="+Inf",{M}}} 3\n'
    page += f"{old}_count{{{M}}} 3\n{old}_sum{{{M}}} 1.5\n"
    text = text_of(translate(page))
    new = "vllm:inter_token_latency_seconds"
    assert type_of(text, new) == "histogram"
    assert set(values(text, f"{new}_bucket").values()) == {2, 3}
    assert list(values(text, f"{new}_sum").values()) == [1.5]
    assert old not in text


def test_of_an_old_and_a_new_name_the_new_one_is_taken() -> None:
    for page in (
        gauge("vllm:gpu_cache_usage_perc", "0.1") + gauge("vllm:kv_cache_usage_perc", "0.2"),
        gauge("vllm:kv_cache_usage_perc", "0.2") + gauge("vllm:gpu_cache_usage_perc", "0.1"),
    ):
        text = text_of(translate(page))
        assert list(values(text, "vllm:kv_cache_usage_perc").values()) == [0.2]
        assert "gpu_cache_usage_perc" not in text


def test_a_new_name_without_samples_does_not_hide_the_old_one() -> None:
    page = "# TYPE vllm:kv_cache_usage_perc gauge\n" + gauge("vllm:gpu_cache_usage_perc", "0.1")
    assert list(values(text_of(translate(page)), "vllm:kv_cache_usage_perc").values()) == [0.1]


def test_prefix_cache_counters_are_renamed_only_where_they_count_tokens() -> None:
    blocks = counter("vllm:gpu_prefix_cache_hits_total", "5", help_text="Hits, in terms of number of cached blocks.")
    tokens = counter("vllm:gpu_prefix_cache_hits_total", "5", help_text="Hits, in terms of number of cached tokens.")
    silent = counter("vllm:gpu_prefix_cache_hits_total", "5", help_text="Hits.")
    assert "vllm:prefix_cache_hits_total{" in text_of(translate(tokens))
    assert "vllm:gpu_prefix_cache_hits_total{" in text_of(translate(blocks))
    assert "vllm:gpu_prefix_cache_hits_total{" in text_of(translate(silent))


def test_an_unknown_hit_rate_leaves_no_sample_and_a_known_one_does() -> None:
    rate = "vllm:gpu_prefix_cache_hit_rate"
    assert rate not in text_of(translate(gauge("vllm:num_requests_running", "1") + gauge(rate, "-1.0")))
    assert list(values(text_of(translate(gauge(rate, "0.25"))), rate).values()) == [0.25]


def test_created_series_and_python_families_are_dropped_unless_kept() -> None:
    page = counter("vllm:prompt_tokens_total", "9") + gauge("vllm:prompt_tokens_created", "1.7e9")
    page += counter("python_gc_collections_total", "1", labels='generation="0"')
    assert set(samples_of(text_of(translate(page)))) == {
        (
            "vllm:prompt_tokens_total",
            (("engine", "0"), ("model_name", "org/m"), ("node", "box"), ("server", "box:8000")),
        )
    }
    kept = text_of(translate(page, keep_created=True))
    assert "vllm:prompt_tokens_created{" in kept
    assert "python_gc_collections_total{" in kept


def test_a_family_that_only_ends_in_created_is_kept() -> None:
    page = gauge("vllm:num_requests_running", "1") + gauge("app_sessions_created", "4")
    assert "app_sessions_created{" in text_of(translate(page))


@pytest.mark.parametrize(
    ("engines", "expected"),
    [((), "0"), (("0",), "0"), (("3",), "3"), (("0", "1"), None)],
)
def test_a_missing_engine_is_filled_in_only_where_it_is_plain(engines: tuple[str, ...], expected: str | None) -> None:
    page = '# TYPE vllm:cache_config_info gauge\nvllm:cache_config_info{block_size="16"} 1\n'
    page += "# TYPE vllm:num_requests_running gauge\n"
    page += "".join(f'vllm:num_requests_running{{engine="{engine}",{M}}} 1\n' for engine in engines)
    (labels,) = values(text_of(translate(page)), "vllm:cache_config_info")
    assert dict(labels).get("engine") == expected


def test_every_engine_of_a_page_is_kept() -> None:
    page = "# TYPE vllm:kv_cache_usage_perc gauge\n"
    page += "".join(f'vllm:kv_cache_usage_perc{{engine="{engine}",{M}}} 0.{engine}\n' for engine in range(4))
    assert sorted(values(text_of(translate(page)), "vllm:kv_cache_usage_perc").values()) == [0, 0.1, 0.2, 0.3]


def test_labels_called_as_ours_are_kept_as_exported() -> None:
    page = gauge("vllm:num_requests_running", "1", 'server="theirs",exported_server="older",node="x"')
    (labels,) = values(text_of(translate(page)), "vllm:num_requests_running")
    assert dict(labels) == {
        "exported_exported_server": "theirs",
        "exported_server": "older",
        "exported_node": "x",
        "engine": "0",
    }


def test_labels_of_a_target_file_are_added() -> None:
    text = text_of(translate(gauge("vllm:num_requests_running", "1"), labels={"team": "search"}))
    assert 'engine="0",team="search",server="box:8000"' in text


def test_churning_labels_go_unless_they_tell_series_apart() -> None:
    name = "ray_vllm:num_requests_running"
    alone = f'# TYPE {name} gauge\n{name}{{{M},WorkerId="a",SessionName="s"}} 1\n'
    assert "WorkerId" not in text_of(translate(alone))
    two = alone + f'{name}{{{M},WorkerId="b",SessionName="s"}} 2\n'
    assert sorted(values(text_of(translate(two)), "vllm:num_requests_running").values()) == [1, 2]


def test_bucket_edges_and_quantiles_are_floats() -> None:
    page = (
        '# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="1000000"} 1\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n'
    )
    page += '# TYPE s summary\ns{quantile="1"} 2\ns_sum 1\ns_count 1\n# TYPE g gauge\ng{le="1"} 1\n'
    text = text_of(translate(page))
    assert 'h_bucket{le="1.0",' in text
    assert 'h_bucket{le="1e+06",' in text
    assert 's{quantile="1.0",' in text
    assert 'g{le="1",' in text


def test_a_router_is_not_counted_as_a_server() -> None:
    page = gauge("vllm:current_qps", "2", 'server="http://a:8000"')
    page += gauge("vllm:num_requests_running", "5", 'server="http://a:8000"')
    page_of_router = translate(page)
    text = text_of(page_of_router)
    assert "vllm:num_requests_running" not in text
    assert values(text, "vllm_router:num_requests_running") == {(("exported_server", "http://a:8000"),): 5}
    assert page_of_router.plan.facts.is_router


def test_counters_of_openmetrics_get_their_suffix_and_improper_ones_stay_untyped() -> None:
    page = "# TYPE vllm:prompt_tokens counter\n" + f"vllm:prompt_tokens_total{{{M}}} 7\n"
    page += f"vllm:prompt_tokens_created{{{M}}} 1.7e9\n"
    page += "# TYPE app_hits counter\napp_hits_total 3\n# TYPE odd counter\nodd 4\n"
    page += '# TYPE build info\nbuild_info{v="1"} 1\n# TYPE what unknown\nwhat 5\n# EOF\n'
    text = text_of(translate(page, openmetrics=True))
    assert type_of(text, "vllm:prompt_tokens_total") == "counter"
    assert type_of(text, "app_hits_total") == "counter"
    assert type_of(text, "odd") == "untyped"
    assert type_of(text, "build_info") == "gauge"
    assert type_of(text, "what") == "untyped"
    assert "_created" not in text


def test_a_known_counter_without_its_suffix_gets_it() -> None:
    text = text_of(translate(counter("ray_vllm_request_success", "6", labels='finished_reason="stop"')))
    assert list(values(text, "vllm:request_success_total").values()) == [6]


def test_a_family_without_a_type_is_known_by_its_name() -> None:
    text = text_of(translate(f"vllm:num_requests_running{{{M}}} 2\n"))
    assert type_of(text, "vllm:num_requests_running") == "gauge"


def test_the_type_decides_and_not_the_name() -> None:
    name = "vllm:iteration_tokens_total"
    page = f'# TYPE {name} histogram\n{name}_bucket{{le="+Inf",{M}}} 2\n{name}_sum{{{M}}} 9\n{name}_count{{{M}}} 2\n'
    text = text_of(translate(page))
    assert type_of(text, name) == "histogram"
    assert list(values(text, f"{name}_sum").values()) == [9]


def test_a_family_that_lies_about_its_type_is_dropped_and_counted() -> None:
    page = translate(gauge("vllm:num_requests_running", "1") + gauge("vllm:prompt_tokens_total", "5"))
    assert "prompt_tokens" not in text_of(page)
    assert dict(page.plan.facts.dropped) == {DropReason.TYPE_CONFLICT: 1}


def test_our_own_names_are_not_taken_from_others() -> None:
    page = translate(gauge("vllm:num_requests_running", "1") + gauge("vllmwatch_gpu_up", "1"))
    assert "vllmwatch_gpu_up" not in text_of(page)
    assert dict(page.plan.facts.dropped) == {DropReason.RESERVED_NAME: 1}


def test_a_series_given_twice_is_taken_once() -> None:
    page = translate(gauge("vllm:num_requests_running", "1") + f"vllm:num_requests_running{{{M}}} 2\n")
    assert list(values(text_of(page), "vllm:num_requests_running").values()) == [1]
    assert dict(page.plan.facts.dropped) == {DropReason.DUPLICATE_SERIES: 1}


def test_a_bad_line_costs_itself_alone() -> None:
    page = gauge("vllm:num_requests_running", "1") + 'vllm:num_requests_running{a="b" c"} 2\nx{a="1} 1\n'
    page += "vllm:generation_tokens_total 1e999\n" + gauge("vllm:num_requests_waiting", "3")
    translated = translate(page)
    text = text_of(translated)
    assert list(values(text, "vllm:num_requests_running").values()) == [1]
    assert list(values(text, "vllm:num_requests_waiting").values()) == [3]
    assert dict(translated.plan.facts.dropped) == {DropReason.INVALID_LINE: 3}
    assert translated.reason is None


def test_of_a_page_that_ends_early_whole_families_are_kept() -> None:
    whole = gauge("vllm:num_requests_running", "1")
    begun = '# TYPE vllm:num_requests_waiting gauge\nvllm:num_requests_waiting{a="1"} 12\n'
    for page, complete in ((whole + begun, False), (whole + begun + 'vllm:num_requests_waiting{a="2"} 1', True)):
        translated = translate(page, complete=complete)
        assert translated.reason is Reason.TRUNCATED
        text = text_of(translated)
        assert list(values(text, "vllm:num_requests_running").values()) == [1]
        assert "waiting" not in text


def test_openmetrics_without_its_end_mark_ended_early() -> None:
    assert translate(gauge("vllm:num_requests_running", "1"), openmetrics=True).reason is Reason.TRUNCATED


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("", Reason.EMPTY),
        ("\n \n", Reason.EMPTY),
        ("<!doctype html><html></html>", Reason.HTML),
        (b"\x00\x01\x02\x03", Reason.NOT_METRICS),
        ("vllm:x 1\n".encode("utf-16"), Reason.NOT_METRICS),
        ('{"error": "no"}\n', Reason.NOT_METRICS),
        ("not a page\nof metrics\n", Reason.NOT_METRICS),
        ("# TYPE process_open_fds gauge\nprocess_open_fds 9\n", Reason.NO_VLLM_FAMILIES),
        ("# TYPE vllm:num_requests_running gauge\n", None),
    ],
)
def test_pages_that_are_none_have_their_reason(page: str | bytes, reason: Reason | None) -> None:
    assert why_not(page) is reason


def test_a_page_with_too_many_series_is_not_read() -> None:
    page = "".join(f'vllm:x{{n="{n}"}} 1\n' for n in range(101))
    assert why_not(page, series_limit=100) is Reason.TOO_MANY_SERIES
    assert why_not(page, series_limit=101) is None


def test_percent_signs_in_labels_survive() -> None:
    text = text_of(translate(gauge("vllm:num_requests_running", "1", 'model_name="100%b %s"')))
    assert 'model_name="100%b %s"' in text


def test_help_is_one_line_and_escaped_as_it_was() -> None:
    page = "# HELP vllm:num_requests_running A \\\\ back \\n line \\q\n" + "# TYPE vllm:num_requests_running gauge\n"
    text = text_of(translate(page + "vllm:num_requests_running 1\n"))
    assert "# HELP vllm:num_requests_running A \\\\ back \\n line \\\\q\n" in text


def test_line_ends_of_windows_change_nothing() -> None:
    page = gauge("vllm:num_requests_running", "1") + "\n" + counter("vllm:prompt_tokens_total", "5")
    assert text_of(translate(page.replace("\n", "\r\n"))) == text_of(translate(page))


def test_a_type_that_comes_late_counts() -> None:
    text = text_of(translate("odd 1\n# TYPE odd gauge\nvllm:num_requests_running 1\n"))
    assert type_of(text, "odd") == "gauge"


def test_labels_called_as_ours_never_meet_in_one_name() -> None:
    page = gauge("vllm:num_requests_running", "1", 'exported_server="older",server="theirs"')
    (labels,) = values(text_of(translate(page, labels={"exported_server": "file"})), "vllm:num_requests_running")
    assert sorted(dict(labels).values()) == ["0", "file", "older", "theirs"]


@pytest.mark.parametrize(
    ("first", "second"),
    [('a="1",b="2"', 'b="2",a="1"'), ('a="1",b=""', 'a="1"'), ('a="1",engine="0"', 'a="1"')],
)
def test_a_series_is_the_same_whatever_the_order_and_empty_labels(first: str, second: str) -> None:
    name = "vllm:num_requests_running"
    page = translate(f"# TYPE {name} gauge\n{name}{{{first}}} 1\n{name}{{{second}}} 2\n")
    assert page.values == (b"1",)
    assert dict(page.plan.facts.dropped) == {DropReason.DUPLICATE_SERIES: 1}


def test_a_histogram_of_the_catalogue_is_known_on_a_page_without_types() -> None:
    name = "vllm:time_per_output_token_seconds"
    page = f'{name}_bucket{{le="1",{M}}} 2\n{name}_sum{{{M}}} 1.5\n{name}_count{{{M}}} 2\n'
    text = text_of(translate(page))
    assert type_of(text, "vllm:inter_token_latency_seconds") == "histogram"
    assert list(values(text, "vllm:inter_token_latency_seconds_count").values()) == [2]
    assert "untyped" not in text


def test_a_counter_declared_as_in_openmetrics_has_one_name_in_both_forms() -> None:
    one = translate("# TYPE app_hits counter\napp_hits_total 3\nvllm:num_requests_running 1\n", server="a:1")
    other = translate("# TYPE app_hits_total counter\napp_hits_total 4\n", server="b:1")
    text = text_of(one, other)
    assert text.count("# TYPE app_hits") == 1
    assert sorted(values(text, "app_hits_total").values()) in ([3, 4], [4])
    assert type_of(text, "app_hits_total") == "counter"


def test_servers_of_two_releases_on_one_page_are_both_kept() -> None:
    """One page of Ray's has every replica of a node; an upgrade replaces them one by one."""
    page = "".join(
        gauge(f"ray_vllm_{name}", value, f'ReplicaId="{replica}"')
        for name, value, replica in (("gpu_cache_usage_perc", "0.1", "old"), ("kv_cache_usage_perc", "0.2", "new"))
    )
    page += 'ray_vllm_gpu_cache_usage_perc{ReplicaId="new"} 0.3\n'
    usage = values(text_of(translate(page)), "vllm:kv_cache_usage_perc")
    assert {dict(labels)["ReplicaId"]: value for labels, value in usage.items()} == {"old": 0.1, "new": 0.2}


def test_of_two_histograms_of_one_idea_buckets_do_not_mix() -> None:
    page = ""
    for name, edge in (("vllm:inter_token_latency_seconds", "1"), ("vllm:time_per_output_token_seconds", "2")):
        page += f'# TYPE {name} histogram\n{name}_bucket{{le="{edge}",{M}}} 1\n{name}_bucket{{le="+Inf",{M}}} 1\n'
        page += f"{name}_sum{{{M}}} 1\n{name}_count{{{M}}} 1\n"
    buckets = values(text_of(translate(page)), "vllm:inter_token_latency_seconds_bucket")
    assert {dict(labels)["le"] for labels in buckets} == {"1.0", "+Inf"}


@pytest.mark.parametrize("line", ["#\n", "# TYPE vllm:x gauge\n"])
def test_a_page_of_comments_without_end_is_not_read(line: str) -> None:
    assert why_not(line * 700, series_limit=100) is Reason.TOO_MANY_SERIES
