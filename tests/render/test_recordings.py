"""Rule files, test files and the page say what the recordings say, and nothing is left out."""

import re

import pytest
import yaml

from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.recordings.stories import STORIES
from vllmwatch.render import mark
from vllmwatch.render.promtool import leaned_on, render_stories
from vllmwatch.render.recordings_page import render_recordings_page
from vllmwatch.render.rules import indented, render_rules
from vllmwatch.spec.recording import REQUESTS, Group, Recording
from vllmwatch.spec.story import Check, Sample, Series, Story


def group(theme: str, *expressions: str) -> Group:
    recordings = [
        Recording("server", f"{theme}_{number}", "now", "Words.", REQUESTS, expression)
        for number, expression in enumerate(expressions)
    ]
    return Group(theme, "Words.", 30, tuple(recordings))


FIRST = group("first", "x")
SECOND = group("second", "vllmwatch:server:first_0:now")
THIRD = group("third", "y", "vllmwatch:server:second_0:now")
OTHER = group("other", "z")
STORY = Story(
    "A story.",
    15,
    (Series('x{a="b"}', "1+2x3"),),
    (Check("1m", "vllmwatch:server:x:now", (Sample({"b": "c", "a": "d"}, 0.5),)), Check("2m", "y", ())),
)


@pytest.mark.parametrize("each", RECORDINGS, ids=lambda each: each.theme)
def test_a_rule_file_holds_the_group_in_its_order(each: Group) -> None:
    text = render_rules(each)
    assert mark.is_marked(text)
    (entry,) = yaml.safe_load(text)["groups"]
    assert (entry["name"], entry["interval"]) == (each.name, f"{each.interval_seconds}s")
    assert [(rule["record"], rule["expr"].split()) for rule in entry["rules"]] == [
        (recording.name, recording.expression.split()) for recording in each.recordings
    ]


def test_lines_within_parentheses_are_indented() -> None:
    assert indented("sum (\na(b)\n)\nor\nc") == "sum (\n  a(b)\n)\nor\nc"


def test_a_group_leans_on_those_whose_recordings_it_reads_and_on_theirs() -> None:
    groups = (FIRST, OTHER, SECOND, THIRD)
    assert leaned_on(THIRD, groups) == (FIRST, SECOND, THIRD)
    assert leaned_on(FIRST, groups) == (FIRST,)


def test_a_test_file_loads_what_it_needs_in_order_and_rounds() -> None:
    text = render_stories((FIRST, SECOND), (STORY,))
    assert mark.is_marked(text)
    assert yaml.safe_load(text) == {
        "rule_files": ["../rules/first.yml", "../rules/second.yml"],
        "evaluation_interval": "30s",
        "group_eval_order": ["vllmwatch-first", "vllmwatch-second"],
        "tests": [
            {
                "name": "A story.",
                "interval": "15s",
                "input_series": [{"series": 'x{a="b"}', "values": "1+2x3"}],
                "promql_expr_test": [
                    {
                        "expr": "round(vllmwatch:server:x:now, 0.000001)",
                        "eval_time": "1m",
                        "exp_samples": [{"labels": '{a="d", b="c"}', "value": 0.5}],
                    },
                    {"expr": "round(y, 0.000001)", "eval_time": "2m", "exp_samples": []},
                ],
            }
        ],
    }


def test_a_test_file_without_stories_is_an_error() -> None:
    with pytest.raises(ValueError, match="second: there are no stories"):
        render_stories((FIRST, SECOND), ())


def test_every_theme_with_rules_has_a_test_file() -> None:
    assert {each.theme for each in RECORDINGS} == set(STORIES)


def test_every_recording_is_on_the_page_with_unit_labels_meaning_and_expression() -> None:
    page = render_recordings_page(RECORDINGS)
    rows = {
        cells[0]: cells
        for line in page.splitlines()
        if line.startswith("| `vllmwatch:")
        for cells in [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]]
    }
    every = [recording for each in RECORDINGS for recording in each.recordings]
    assert len(rows) == len(every)
    for recording in every:
        name, unit, labels, meaning, expression = rows[f"`{recording.name}`"]
        assert (unit, meaning) == (recording.unit.word, recording.help), name
        assert labels == ", ".join(f"`{label}`" for label in recording.labels)
        assert expression.strip("`").replace("\\|", "|").split() == recording.expression.split()


def test_a_page_of_no_recordings_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to write"):
        render_recordings_page(())
