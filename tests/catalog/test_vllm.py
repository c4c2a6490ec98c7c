"""The catalogue of vLLM's metrics against pages that real releases wrote, or that their own metrics code printed."""

import re
from collections import Counter
from pathlib import Path

import pytest

from vllmwatch.catalog.vllm import METRICS, prefixes, router
from vllmwatch.spec.upstream import NEWEST, Name, Scope, UpstreamKind, UpstreamMetric, Version

PAGES = sorted((Path(__file__).parents[1] / "data" / "vllm").glob("*.prom"))
VERSIONS = sorted({path.name.split("_")[1] for path in PAGES})
# Releases of which there is a page of the V0 engine in one process, where families without samples stand too.
WITH_V0_PAGE = {"0.4.0", "0.4.3", "0.5.5", "0.6.3", "0.6.6", "0.7.3", "0.8.2", "0.9.1"}
TYPE = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)
NAMES: dict[str, list[tuple[Name, UpstreamMetric]]] = {}
for _metric in METRICS:
    for _name in _metric.names:
        NAMES.setdefault(_name.name, []).append((_name, _metric))


def families(path: Path) -> dict[str, str]:
    """Return the families of a page under the names of text format 0.0.4, with their types."""
    openmetrics = "openmetrics" in path.name
    found = {}
    for name, kind in TYPE.findall(path.read_text()):
        if not name.endswith("_created"):
            found[f"{name}_total" if openmetrics and kind == "counter" else name] = kind
    return found


def version_of(path: Path) -> Version:
    return Version.parse(path.name.split("_")[1])


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_every_family_of_a_real_page_is_in_the_catalogue_for_that_release(path: Path) -> None:
    unknown = []
    for name, kind in families(path).items():
        if name.startswith("python_"):
            continue
        claims = [
            metric
            for claim, metric in NAMES.get(name, [])
            if claim.existed_in(version_of(path)) and metric.kind == kind
        ]
        if not claims:
            unknown.append((name, kind))
    assert unknown == []


@pytest.mark.parametrize("version", VERSIONS)
def test_what_is_said_to_be_always_there_is_on_a_real_page_of_that_release(version: str) -> None:
    seen: set[str] = set()
    for path in PAGES:
        if path.name.split("_")[1] == version:
            seen |= families(path).keys()
    missing = [
        metric.name
        for metric in METRICS
        if not metric.condition
        and ("(V0 engine" not in metric.help or version in WITH_V0_PAGE)
        and any(True for _ in metric.existed_in(Version.parse(version)))
        and not any(name.name in seen for name in metric.existed_in(Version.parse(version)))
    ]
    assert missing == []


def test_no_name_means_two_things_in_one_release() -> None:
    for name, claims in NAMES.items():
        if len(claims) > 1:
            words = [claim.help_contains for claim, _ in claims]
            assert all(words), f"{name}: without a word in HELP to tell them apart"
            assert len(set(words)) == len(words)


def test_canonical_names_are_those_of_the_release_they_are_frozen_at() -> None:
    """A metric that is alive goes by the name that 0.32 gave it."""
    frozen = Version(0, 32, 0)
    for metric in METRICS:
        if any(True for _ in metric.existed_in(frozen)):
            assert metric.names[0].existed_in(frozen), metric.name


def test_names_of_one_metric_go_from_new_to_old() -> None:
    for metric in METRICS:
        ages = [name.since for name in metric.names]
        assert ages == sorted(ages, reverse=True), metric.name


def test_canonical_names_stand_once_but_for_units_that_changed() -> None:
    assert [name for name, count in Counter(metric.name for metric in METRICS).items() if count > 1] == []


def labels_of(metric: UpstreamMetric, page: str) -> set[str]:
    """Return the labels that a page's series of a metric have, under the canonical name; empty without series."""
    series = re.findall(rf"^{re.escape(metric.name)}(?:_bucket|_count|_sum)?{{(.*)}} ", page, re.MULTILINE)
    return {label for text in series for label in re.findall(r'(\w+)="', text)}


@pytest.mark.parametrize("page", ["vllm_0.32.0_loaded", "vllm_0.33.0_registry", "vllm_0.33.0_registry_connectors"])
def test_labels_that_vllm_puts_on_pages_are_the_declared_ones(page: str) -> None:
    (path,) = [path for path in PAGES if path.stem == page]
    common = {"model_name", "engine", "le", "quantile"}
    for metric in METRICS:
        labels = labels_of(metric, path.read_text())
        if labels and metric.name != "vllm:cache_config_info":
            assert labels - common == set(metric.labels), metric.name


# From 0.8.3 the V1 engine says whose a series is, and from 0.9.0 so does its configuration; V0 never did.
SAYS_ENGINE = [
    path
    for path in PAGES
    if version_of(path) >= Version(0, 9, 0) and "openmetrics" not in path.name and "_v0" not in path.name
]


@pytest.mark.parametrize("path", SAYS_ENGINE, ids=lambda path: path.stem)
def test_metrics_of_an_engine_carry_its_label_and_those_of_a_server_do_not(path: Path) -> None:
    for metric in METRICS:
        labels = labels_of(metric, path.read_text())
        if labels:
            assert ("engine" in labels) == (metric.scope is Scope.ENGINE), metric.name


def test_router_markers_are_no_names_of_a_server() -> None:
    assert router.MARKERS.isdisjoint(NAMES)
    assert all(marker.startswith(prefixes.CANONICAL) for marker in router.MARKERS)


@pytest.mark.parametrize("text", ["", "0.32", "v0.32.0", "x"])
def test_what_is_no_version_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a version"):
        Version.parse(text)


def test_versions_are_ordered_by_number() -> None:
    assert Version.parse("0.9.2") < Version.parse("0.10.0") < NEWEST
    assert Version.parse("0.32.0+cpu") == Version(0, 32, 0)


def test_nonsense_is_refused() -> None:
    new, old = Version(0, 9, 0), Version(0, 8, 0)
    with pytest.raises(ValueError, match="after until"):
        Name("vllm:x", new, old)
    with pytest.raises(ValueError, match="_total"):
        UpstreamMetric("Words.", UpstreamKind.COUNTER, "x", METRICS[0].scope, (Name("vllm:x", old),))
    with pytest.raises(ValueError, match="sentence"):
        UpstreamMetric("words", UpstreamKind.GAUGE, "x", METRICS[0].scope, (Name("vllm:x", old),))
