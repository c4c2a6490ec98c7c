"""Samples of our own metrics as text."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.exporter.vllm.pages import samples_of
from vllmwatch.exporter.family import Families, Family, Row
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


def test_each_key_is_the_value_of_the_last_label() -> None:
    family = Family(HEAT)
    for _ in range(2):  # the second page is written from what is remembered of the first
        family.add_each({"core": 41.5, "memory": True}, "box")
        assert family.take_text().splitlines()[2:] == [
            'vllmwatch_heat_celsius{node="box",kind="core"} 41.5',
            'vllmwatch_heat_celsius{node="box",kind="memory"} 1',
        ]


def test_keys_that_come_and_go_keep_their_own_values() -> None:
    family = Family(HEAT)
    for values in ({"core": 1, "memory": 2}, {"memory": 3}, {}, {"memory": 4, "core": 5}):
        family.add_each(values, "box")
        found = {dict(labels)["kind"]: value for (_, labels), value in samples_of(family.take_text()).items()}
        assert found == values


def test_a_key_of_two_parts_gives_two_labels() -> None:
    family = Family(HEAT)
    family.add_each({("box", "core"): 7})
    assert family.take_text().endswith('{node="box",kind="core"} 7\n')


def test_each_key_once() -> None:
    family = Family(HEAT)
    family.add(1, "box", "core")
    with pytest.raises(ValueError, match="added twice"):
        family.add_each({"core": 2}, "box")


@dataclass(frozen=True, slots=True)
class Box:
    memory: int | None
    events: bool | None


ROW = Row({MEMORY: "memory", EVENTS: "events"})


def test_a_row_adds_each_attribute_that_has_a_value() -> None:
    families = Families((MEMORY, EVENTS))
    for box, expected in (
        (Box(5, True), {"vllmwatch_memory_bytes": 5, "vllmwatch_events_total": 1}),
        (Box(None, False), {"vllmwatch_events_total": 0}),
        (Box(6, None), {"vllmwatch_memory_bytes": 6}),
    ):
        families.add_row(ROW, box, "a")
        text = families.take_text()
        assert {name: value for (name, _), value in samples_of(text).items()} == expected
        assert "True" not in text


def test_a_row_added_twice_is_refused() -> None:
    families = Families((MEMORY, EVENTS))
    families.add_row(ROW, Box(1, None), "a")
    families.add_row(ROW, Box(1, None), "b")
    with pytest.raises(ValueError, match="added twice"):
        families.add_row(ROW, Box(1, None), "a")


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
