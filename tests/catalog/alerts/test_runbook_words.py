"""What runbooks name exists: recordings, metrics and their labels, alerts, settings, our commands, vLLM's options."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from vllmwatch.catalog import exporter, gpu, joined, settings, vllm
from vllmwatch.catalog.alerts import ALERTS, RUNBOOKS
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.thresholds import THRESHOLDS
from vllmwatch.cli.main import app
from vllmwatch.spec.alert import Severity
from vllmwatch.spec.metric import Label
from vllmwatch.spec.promql import names_in, without_texts
from vllmwatch.spec.reason import REASON_MEANINGS
from vllmwatch.spec.setting import Setting
from vllmwatch.spec.upstream import PARTS

ROOT = Path(__file__).parents[3]
METRICS = (*exporter.METRICS, *gpu.METRICS, *joined.METRICS)
# Options of `vllm serve` and variables of its environment, as release 0.32 has them.
_VLLM_OPTIONS = """
    --api-server-count --custom-histogram-buckets --disable-log-stats --enable-log-requests --enable-sleep-mode
    --gpu-memory-utilization --kv-cache-dtype --max-model-len --max-num-batched-tokens --max-num-queued-reqs
    --max-num-queued-tokens --max-num-seqs --speculative-config --tensor-parallel-size
    """
VLLM_OPTIONS = frozenset(_VLLM_OPTIONS.split())
_VLLM_VARIABLES = """
    VLLM_KEEP_ALIVE_ON_ENGINE_DEATH VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT VLLM_NIXL_SIDE_CHANNEL_PORT
    VLLM_SERVER_DEV_MODE
    """
VLLM_VARIABLES = frozenset(_VLLM_VARIABLES.split())
OLDER_VLLM_VARIABLES = frozenset({"VLLM_NIXL_ABORT_REQUEST_TIMEOUT"})
DOCKER_OPTIONS = frozenset({"--pid", "--shm-size"})
# Words of vLLM's and of others that are neither a setting, a label nor a value of ours.
_OTHERS_WORDS = """
    kv_lease_duration kv_connector_extra_config kv_load_failure_policy max_tokens num_speculative_tokens
    discard_all shm_broadcast discovery_problems repeat_interval scrape_timeout
    """
OTHERS_WORDS = frozenset(_OTHERS_WORDS.split())

SPANS = [(name, span) for name, text in RUNBOOKS.items() for span in re.findall(r"`([^`]+)`", text)]


def _labels() -> Iterator[Label]:
    for metric in METRICS:
        yield from metric.labels
    for group in RECORDINGS:
        for recording in group.recordings:
            yield from recording.own_labels


def _settings() -> Iterator[Setting]:
    for found in vars(settings).values():
        if isinstance(found, tuple):
            yield from (each for each in found if isinstance(each, Setting))


def _labels_by_name() -> dict[str, frozenset[str]]:
    """Return the labels of each series that there is, those of recordings and of both kinds of pages."""
    known = {metric.name: frozenset(("node", *(label.name for label in metric.labels))) for metric in METRICS}
    for group in RECORDINGS:
        known |= {each.name: frozenset(each.labels) for each in group.recordings}
    for metric in vllm.METRICS:
        labels = frozenset(("node", "server", *metric.labels, "engine", "model_name", "le"))
        known |= {f"{metric.name}{part}": labels for part in PARTS.get(metric.kind, ("",))}
    return known


LABELS = _labels_by_name()
KEYS = {setting.key for setting in _settings()} | {threshold.key for threshold in THRESHOLDS}
VALUES = {value for label in _labels() for value in (label.values or ())}


def matching(pattern: str) -> list[tuple[str, str]]:
    return [(name, span) for name, span in SPANS if re.search(pattern, span)]


@pytest.mark.parametrize(("name", "query"), matching(r"\b(vllm:|vllmwatch:|vllmwatch_|http_requests)"))
def test_a_query_reads_series_that_there_are_by_labels_that_they_have(name: str, query: str) -> None:
    assert list(names_in(query)), query
    for series in names_in(query):
        assert series in LABELS, (name, series)
    bare = without_texts(query)
    for series, matchers in re.findall(r"([a-z_:0-9]+)\{([^}]*)\}", bare):
        assert {matcher.partition("=")[0].strip() for matcher in matchers.split(",")} <= LABELS[series], query


def test_alerts_that_are_named_exist() -> None:
    known = {alert.name for alert in ALERTS}
    named = matching(r"^([A-Z][a-z0-9]+){2,}$")
    assert len(named) > 30
    assert [(name, span) for name, span in named if span not in known] == []


def test_no_runbook_sends_its_reader_to_itself() -> None:
    assert [name for name, span in SPANS if span == name] == []


@pytest.mark.parametrize(("name", "line"), matching(r"^vllmwatch "))
def test_a_command_of_ours_is_taken_as_it_stands(name: str, line: str) -> None:
    words = shlex.split(line)[1:]
    root = typer.main.get_command(app)
    with root.make_context("vllmwatch", [*words], ignore_unknown_options=False) as context:
        chosen, command, rest = root.resolve_command(context, words)  # type: ignore[attr-defined]
        assert command is not None, name
        # Raises click's own error for an option that there is not, or a word too few or too many.
        assert command.make_context(chosen, rest, parent=context).params


def test_words_joined_by_underscores_are_settings_labels_values_or_known_words_of_others() -> None:
    labels = {label.name for label in _labels()} | {label for alert in ALERTS for label in alert.labels}
    endings = {each.partition(":")[2].removesuffix("_bucket") for each in LABELS if each.startswith("vllm:")}
    known = KEYS | VALUES | labels | set(REASON_MEANINGS) | OTHERS_WORDS | endings
    known |= {event.name for event in LOG_CATALOG.events}
    figures = {"sm_clock", "pcie_width", "replace_row"}
    words = matching(r"^[a-z][a-z0-9]*(_[a-z0-9]+)+$")
    ours = [(name, span) for name, span in words if not span.startswith("vllmwatch_")]
    assert len(ours) > 40
    assert [(name, span) for name, span in ours if span not in known | figures] == []


def test_settings_of_an_alert_s_severity_name_an_alert_and_a_severity() -> None:
    found = [pair for _, span in SPANS for pair in re.findall(r"^severities: \{(\w+): (\w+)\}$", span)]
    assert found
    for name, severity in found:
        assert name in {alert.name for alert in ALERTS}
        assert severity in set(Severity)


def test_options_and_variables_of_vllm_are_those_of_its_newest_release() -> None:
    options = {(name, re.split("[= ]", span)[0]) for name, span in matching(r"^--[a-z]")}
    assert [each for each in sorted(options) if each[1] not in VLLM_OPTIONS | DOCKER_OPTIONS] == []
    variables = {(name, span.partition("=")[0]) for name, span in matching(r"^VLLM_")}
    assert [each for each in sorted(variables) if each[1] not in VLLM_VARIABLES | OLDER_VLLM_VARIABLES] == []
    assert {option for _, option in options} >= {"--max-num-seqs", "--kv-cache-dtype"}


def test_files_that_are_named_exist() -> None:
    files = matching(r"^docs/")
    assert files
    assert [span for _, span in files if not (ROOT / span).is_file()] == []


def test_a_first_look_begins_with_something_to_run() -> None:
    """Whoever reads the runbook of a page finds a command or a query among the first three lines of its first look."""
    for alert in ALERTS:
        look = RUNBOOKS[alert.name].partition("## First look")[2].partition("## ")[0]
        first = look.strip().split("\n- ")[:3]
        assert any(re.search(r"`[^`]+[ :_(./][^`]*`", line) for line in first), alert.name
