"""Recordings lean on what is declared and on what was recorded before them, and let no label of a scrape through."""

import re

from vllmwatch.catalog import exporter, gpu, joined, vllm
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.spec.promql import label_lists, names_in
from vllmwatch.spec.recording import Recording
from vllmwatch.spec.upstream import PARTS

EVERY: tuple[Recording, ...] = tuple(recording for group in RECORDINGS for recording in group.recordings)
UPSTREAM = {f"{metric.name}{part}": metric for metric in vllm.METRICS for part in PARTS.get(metric.kind, ("",))}
OWN = {metric.name: metric for metric in (*exporter.METRICS, *gpu.METRICS, *joined.METRICS)}
SELECTOR = re.compile(r"(?<![\w:])((?:vllm:|http_|process_)[a-z0-9_:]+)(\{[^}]*\})?")


def test_no_recording_stands_twice() -> None:
    names = [recording.name for recording in EVERY]
    assert len(names) == len(set(names))
    assert len({group.theme for group in RECORDINGS}) == len(RECORDINGS)


def test_every_name_is_declared() -> None:
    for recording in EVERY:
        known = UPSTREAM.keys() | OWN.keys() | {each.name for each in EVERY}
        assert [name for name in names_in(recording.expression) if name not in known] == [], recording.name
        assert list(names_in(recording.expression)), f"{recording.name} reads nothing"


def test_what_a_recording_reads_is_recorded_before_it() -> None:
    recorded: set[str] = set()
    for recording in EVERY:
        used = {name for name in names_in(recording.expression) if name.startswith("vllmwatch:")}
        assert used <= recorded, recording.name
        recorded.add(recording.name)


def test_labels_that_move_or_belong_to_a_scrape_join_nothing() -> None:
    for recording in EVERY:
        for word, labels in label_lists(recording.expression):
            assert word not in {"without", "ignoring"}, f"{recording.name}: labels of a scrape would stay"
            assert not {"gpu", "instance", "job"} & set(labels), recording.name


def test_series_of_servers_that_the_exporter_does_not_scrape_are_left_out() -> None:
    for recording in EVERY:
        for name, matchers in SELECTOR.findall(recording.expression):
            assert 'server!=""' in matchers, (recording.name, name)


def test_an_edge_is_written_as_pages_write_it() -> None:
    for recording in EVERY:
        for edge in re.findall(r'\ble="([^"]*)"', recording.expression):
            assert edge == "+Inf" or edge == repr(float(edge)), recording.name


def test_matchers_name_labels_that_the_metric_has() -> None:
    for recording in EVERY:
        common = {"server", "node", "engine", "model_name", "le"}
        for name, matchers in re.findall(r"((?:vllm|vllmwatch)[:_][a-z0-9_:]+)\{([^}]*)\}", recording.expression):
            labels = set(re.findall(r"(\w+)(?:=~|!=|=)", matchers))
            if name in OWN:
                assert labels <= {label.name for label in OWN[name].labels}, name
            elif name in UPSTREAM:
                assert labels <= {*common, *UPSTREAM[name].labels}, name


def test_sums_over_time_that_are_divided_are_of_one_interval() -> None:
    """A sum over an hour counts moments, so both sums of a quotient must have as many."""
    interval = {recording.name: group.interval_seconds for group in RECORDINGS for recording in group.recordings}
    for recording in EVERY:
        summed = set(re.findall(r"sum_over_time\((vllmwatch:[a-z0-9_:]+)\[", recording.expression))
        assert len({interval[name] for name in summed}) <= 1, recording.name


def test_all_that_the_design_asks_for_is_recorded() -> None:
    names = {recording.name.removeprefix("vllmwatch:") for recording in EVERY}
    asked = """
    engine:requests_finished:rate5m server:requests_with_first_token:rate5m model:prompt_tokens:rate5m
    server:cached_prompt_tokens:ratio_rate5m server:http_errors:rate5m server:requests_rejected:rate5m
    engine:requests_aborted_estimate:increase15m server:request_latency_slow:ratio_increase5m
    model:time_to_first_token_slow:ratio_increase6h server:inter_token_latency_slow:increase30m
    server:queue_time_seconds:p99_5m engine:kv_cache_usage_ratio:max server:kv_cache_usage_ratio:max
    engine:kv_cache_headroom_tokens:now engine:kv_cache_exhaustion_seconds:slope10m engine:requests_waiting:slope10m
    engine:preemptions:rate5m gpu:servers:count server_gpu:share:ratio server:power_watts:avg1m
    server:power_busy_watts:now server:power_idle_watts:now server:energy_per_token_joules:avg5m
    server:energy_per_generation_token_joules:avg5m server:energy_idle:ratio_avg1h server:held_gpus:sum
    server:cost_per_second:now server:cost_per_million_tokens:avg1h server:busy_cost_per_million_generation_tokens:avg5m
    engine:flops_utilization:ratio_rate5m engine:memory_bandwidth_utilization:ratio_rate5m
    engine:requests_stuck:min2m engine_gpu:sm_clock:ratio_avg5m engine_gpu:power:ratio_avg5m
    engine_gpu:temperature_difference_celsius:avg5m engine_gpu:pcie_width:ratio model:versions:count
    model:cache_configurations:count server:restarts:increase1h server:unused_gpus:sum30m node:unused_gpus:sum30m
    engine_gpu:info:last1h
    """
    assert set(asked.split()) - names == set()
