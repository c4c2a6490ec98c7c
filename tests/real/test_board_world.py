"""The world in which boards are tried has all that boards can show: each recording, each metric, and many alerts."""

import re
import time

import pytest

from tests.exporter.join.page import needs_hosts_pids
from tests.real.board_gpus import HOT, LOST, NARROW
from tests.real.board_servers import GONE_MODEL, MODEL, PATH_MODEL
from tests.real.board_world import LASTS_SECONDS, NODE, REAL_SERVER, SCRAPE_SECONDS, SECOND_NODE, BoardWorld, quick
from tests.real.vllm_server import MODEL_NAME
from vllmwatch.catalog import exporter, gpu, joined
from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.render.alert_rules import AlertSettings
from vllmwatch.render.rule_set import Sources, rule_files

pytestmark = [
    pytest.mark.real_vllm,
    pytest.mark.real_prometheus,
    pytest.mark.real_alertmanager,
    pytest.mark.fake_nvml,
    needs_hosts_pids,
    pytest.mark.timeout(900),
]

EMPTY: dict[str, str] = {}
"""Recordings and metrics that a world of a minute and a half cannot have, each with its reason."""

QUIET = {
    "PrefixCacheHitsDropped": "needs a day with a better share than now",
    "SpeculationAcceptanceDropped": "needs a day with a better share than now",
    "RulesFailing": "no rule fails, which is tested below",
    "RulesMissing": "all rules are there",
    "TargetScrapeSlow": "a page that takes five seconds is given up after two here",
    "VllmFaultLogged": "no log is followed here: the cases of this alert are played by promtool",
    "VllmOutOfMemory": "no log is followed here: the cases of this alert are played by promtool",
    "VllmStartFailed": "no log is followed here: the cases of this alert are played by promtool",
    "VllmServersMissing": "a node that has no server left would leave the boards less to show",
}
"""Alerts that need not fire here, each with its reason."""


def absent(world: BoardWorld, names: set[str]) -> set[str]:
    """Return the names of which no sample was there at any time."""
    there = world.names()
    return {name for name in names if name not in there or not world.query(f"count(last_over_time({name}[15m]))")}


def servers(world: BoardWorld, expression: str) -> set[str]:
    """Return the servers of the samples of an expression at the end."""
    return {labels["server"].partition(":")[2] for labels, _ in world.query(expression)}


def appended(world: BoardWorld) -> float:
    """Return how many samples Prometheus has taken."""
    return world.prometheus.own_samples()['prometheus_tsdb_head_samples_appended_total{type="float"}']


def test_every_recording_has_had_a_sample(board_world: BoardWorld) -> None:
    names = {recording.name for group in RECORDINGS for recording in group.recordings}
    assert absent(board_world, names) == names & EMPTY.keys()


def test_every_recording_says_a_number(board_world: BoardWorld) -> None:
    names = {recording.name for group in RECORDINGS for recording in group.recordings}
    assert {name for name in names - EMPTY.keys() if not board_world.shows(name)} == set()


def test_every_metric_has_had_a_sample(board_world: BoardWorld) -> None:
    names = {metric.name for metric in (*gpu.METRICS, *joined.METRICS, *exporter.METRICS)}
    assert absent(board_world, names) == names & EMPTY.keys()


def test_all_alerts_but_a_few_have_fired(board_world: BoardWorld) -> None:
    assert {alert.name for alert in ALERTS} - board_world.fired() - QUIET.keys() == set()


def test_no_rule_failed(board_world: BoardWorld) -> None:
    failures = board_world.query("sum(prometheus_rule_evaluation_failures_total)")
    assert failures == [({}, 0.0)]
    evaluated = board_world.query("count(prometheus_rule_group_rules)")[0][1]
    assert evaluated == len(rule_files(AlertSettings(), Sources()))


def test_each_server_is_in_the_state_that_it_is_meant_to_be_in(board_world: BoardWorld) -> None:
    assert servers(board_world, "vllmwatch:engine:requests_stuck:min2m") == {"stuck"}
    assert servers(board_world, "vllmwatch:engine:requests_stalled:min2m") == {"stalled", "asleep"}
    assert servers(board_world, "vllmwatch:engine:requests_asleep:now") == {"asleep"}
    assert servers(board_world, "vllmwatch:server:unused_gpus:sum30m") == {"idle"}
    assert servers(board_world, "vllmwatch:server:requests_failed:ratio_increase10m > 0") == {"erring"}
    assert servers(board_world, 'vllmwatch_target_error{reason="refused"} == 1') == {"gone-a", "gone-b", "never"}
    assert servers(board_world, 'vllmwatch_target_error{reason="html"} == 1') == {"web"}
    assert servers(board_world, "vllmwatch:engine:kv_cache_usage_ratio:max > 0.95") == {"full"}
    gone = board_world.query("vllmwatch_target_last_success_timestamp_seconds and vllmwatch_target_up == 0")
    assert len(gone) == 2
    assert all(board_world.begun < last < board_world.ended - 30 for _, last in gone)


def test_real_server_answers_and_reuses_prompts(board_world: BoardWorld) -> None:
    who = f'server="{REAL_SERVER}"'
    (names, rate) = board_world.query(f"vllmwatch:server:generation_tokens:rate5m{{{who}}}")[0]
    assert names["model_name"] == MODEL_NAME
    assert rate > 0
    (_, share) = board_world.query(f"vllmwatch:server:cached_prompt_tokens:ratio_rate5m{{{who}}}")[0]
    assert 0 < share < 1
    (_, aborted) = board_world.query(f"vllmwatch:server:requests_aborted_estimate:increase15m{{{who}}}")[0]
    assert aborted >= 1
    (on,) = board_world.query(f"vllmwatch_engine_gpu_info{{{who}}}")
    assert (on[0]["rank"], on[0]["gpu"]) == ("TP0", "0")


def test_gpus_have_their_ills(board_world: BoardWorld) -> None:
    at = f'node="{NODE}", gpu='
    assert board_world.query(f'vllmwatch_gpu_up{{{at}"{LOST}"}}')[0][1] == 0
    assert board_world.query(f'vllmwatch_gpu_up{{{at}"{LOST}"}}', board_world.begun + 10)[0][1] == 1
    assert board_world.query(f'vllmwatch_gpu_temperature_celsius{{{at}"{HOT}"}}')[0][1] == 93
    assert board_world.query(f'vllmwatch_gpu_pcie_link_width{{{at}"{NARROW}"}}')[0][1] == 4
    assert board_world.query(f'sum(vllmwatch_gpu_nvlink_up{{{at}"{NARROW}"}})')[0][1] == 3
    assert board_world.query(f'sum(increase(vllmwatch_gpu_xid_errors_total{{{at}"{LOST}"}}[2m])) > 0')
    assert board_world.query("vllmwatch:node:gpus_missing:max6h") == [
        ({"__name__": "vllmwatch:node:gpus_missing:max6h", "node": SECOND_NODE}, 1.0)
    ]


def test_one_model_is_on_two_nodes_and_in_two_releases(board_world: BoardWorld) -> None:
    found = board_world.query(f'vllmwatch_target_info{{model_name="{MODEL}"}}')
    assert {(labels["node"], labels["version"]) for labels, _ in found} == {
        (NODE, "0.33.0"),
        (NODE, "0.20.2"),
        (SECOND_NODE, "0.33.0"),
    }
    models = {labels["model_name"] for labels, _ in board_world.query("vllmwatch:model:tokens:rate5m")}
    assert {PATH_MODEL, MODEL_NAME, MODEL} < models
    running = {labels["model_name"] for labels, _ in board_world.query("vllmwatch:model:requests_running:sum")}
    assert models - running == {GONE_MODEL}


def test_world_lasts_no_longer_than_it_should_and_stands_still(board_world: BoardWorld) -> None:
    assert LASTS_SECONDS <= board_world.ended - board_world.begun < LASTS_SECONDS + 60
    # What has ended is marked as such some seconds later.
    deadline = time.monotonic() + 60
    before, after = 0.0, appended(board_world)
    while before != after:
        assert time.monotonic() < deadline, "samples are still added"
        time.sleep(2 * SCRAPE_SECONDS + 1)
        before, after = after, appended(board_world)
    assert after > 100_000


def test_rules_differ_from_those_that_ship_in_durations_alone() -> None:
    duration = re.compile(r"\b[0-9]+[smhd]\b")
    for name, text in rule_files(AlertSettings(), Sources()).items():
        assert quick(text) != text, name
        assert duration.sub("", quick(text)) == duration.sub("", text), name
