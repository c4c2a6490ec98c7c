"""A metric whose name, unit and meaning disagree cannot be declared."""

import pytest

from vllmwatch.spec.metric import Kind, Label, Metric, counter, gauge
from vllmwatch.spec.unit import BYTES, CELSIUS, COUNT, INFO, SECONDS, UNITS

NODE = Label("node", "The host.")


def test_a_good_metric_is_declared_with_its_prefix() -> None:
    metric = gauge("gpu_memory_used_bytes", "Memory in use.", BYTES, NODE)
    assert str(metric) == "vllmwatch_gpu_memory_used_bytes"
    assert metric.kind is Kind.GAUGE


@pytest.mark.parametrize(
    ("name", "kind", "unit", "complaint"),
    [
        ("vllmwatch_memory", Kind.GAUGE, BYTES, "_bytes"),
        ("vllmwatch_temperature_seconds", Kind.GAUGE, CELSIUS, "_celsius"),
        ("vllmwatch_things_total", Kind.GAUGE, COUNT, "_total"),
        ("vllmwatch_things", Kind.COUNTER, COUNT, "_total"),
        ("vllmwatch_wait_total", Kind.COUNTER, SECONDS, "_seconds"),
        ("vllmwatch_build_info_total", Kind.COUNTER, INFO, "gauge"),
        ("memory_bytes", Kind.GAUGE, BYTES, "vllmwatch_"),
        ("vllmwatch_Memory_bytes", Kind.GAUGE, BYTES, "lower-case"),
        ("vllmwatch_memory-bytes", Kind.GAUGE, BYTES, "lower-case"),
    ],
)
def test_a_bad_name_is_refused(name: str, kind: Kind, unit: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Metric(name, "Words.", kind, unit, ())  # type: ignore[arg-type]  # the parameters are units


@pytest.mark.parametrize("text", ["", "words.", "Words", "Two\nlines."])
def test_help_is_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="sentence"):
        gauge("x_bytes", text, BYTES)
    with pytest.raises(ValueError, match="sentence"):
        Label("x", text)


def test_labels_are_words_named_once_and_never_severity() -> None:
    with pytest.raises(ValueError, match="twice"):
        gauge("x_bytes", "Words.", BYTES, NODE, NODE)
    for name in ("severity", "Node", "__name__", "a-b", ""):
        with pytest.raises(ValueError, match="label"):
            Label(name, "Words.")


def test_a_counter_in_a_unit_carries_both_suffixes() -> None:
    assert counter("wait_seconds_total", "Words.", unit=SECONDS).name == "vllmwatch_wait_seconds_total"


def test_units_differ_in_word_and_suffix() -> None:
    assert len({unit.word for unit in UNITS}) == len(UNITS)
    suffixes = [unit.suffix for unit in UNITS if unit.suffix]
    assert len(set(suffixes)) == len(suffixes)
