"""Samples of our own metrics as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporter.vllm.pages import samples_of
from vllmwatch.exporter.family import Families, Family
from vllmwatch.spec.metric import Label, counter, gauge
from vllmwatch.spec.unit import BYTES, CELSIUS

NODE = Label("node", "The host.")
KIND = Label("kind", "The kind.")
HEAT = gauge("heat_celsius", "Heat.", CELSIUS, NODE, KIND)
MEMORY = gauge("memory_bytes", "Memory.", BYTES, NODE)
EVENTS = counter("events_total", "Events.", NODE)


def test_a_family_is_help_type_and_samples() -> None:
    family = Family(HEAT)
    family.add(41.5, "box", "core")
    family.add(60, "box", "memory")
    assert family.take_text() == (
        "# HELP vllmwatch_heat_celsius Heat.\n"
        "# TYPE vllmwatch_heat_celsius gauge\n"
        'vllmwatch_heat_celsius{node="box",kind="core"} 41.5\n'
        'vllmwatch_heat_celsius{node="box",kind="memory"} 60\n'
    )


def test_absent_leaves_no_sample_and_an_empty_family_no_text() -> None:
    family = Family(MEMORY)
    family.add(None, "box")
    assert not family
    assert family.take_text() == ""


def test_a_page_does_not_carry_over_to_the_next() -> None:
    families = Families((MEMORY, EVENTS))
    families[MEMORY].add(1, "a")
    first = families.take_text()
    families[EVENTS].add(2, "a")
    assert "memory" in first
    assert "memory" not in families.take_text()
    families[MEMORY].add(1, "a")
    families.begin_page()
    assert families.take_text() == ""


def test_the_same_series_twice_is_refused() -> None:
    family = Family(MEMORY)
    family.add(1, "box")
    with pytest.raises(ValueError, match="added twice"):
        family.add(2, "box")


@pytest.mark.parametrize("labels", [(), ("box",), ("box", "core", "more")])
def test_a_wrong_number_of_labels_is_refused(labels: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="label values"):
        Family(HEAT).add(1, *labels)


def test_truth_is_written_as_a_number() -> None:
    family = Family(MEMORY)
    family.add(True, "box")
    assert family.take_text().endswith("} 1\n")


@given(st.floats(allow_nan=False), st.text(), st.text())
def test_any_value_and_label_reads_back(value: float, node: str, kind: str) -> None:
    node, kind = (text.encode("utf-8", "ignore").decode() for text in (node, kind))
    family = Family(HEAT)
    family.add(value, node, kind)
    text = family.take_text().replace("\r", "?")
    ((_, labels),) = samples_of(text)
    expected = {"node": node.replace("\r", "?"), "kind": kind.replace("\r", "?")}
    assert dict(labels) == expected
    assert list(samples_of(text).values()) == [value]


def test_what_is_remembered_of_labels_is_bounded() -> None:
    family = Family(MEMORY)
    for number in range(25_000):
        family.add(1, f"node-{number}")
        family.take_text()
    assert len(family._known) <= 10_000
