"""No recording is without a story, and stories tell of series that there are."""

import re

import pytest

from vllmwatch.catalog import exporter, gpu, joined, vllm
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.recordings.stories import STORIES
from vllmwatch.catalog.recordings.stories.worked_example import WORKED_EXAMPLE
from vllmwatch.spec.story import Story
from vllmwatch.spec.upstream import PARTS, Scope

EVERY: tuple[Story, ...] = (*(story for stories in STORIES.values() for story in stories), WORKED_EXAMPLE)
RECORDED = {recording.name: recording for group in RECORDINGS for recording in group.recordings}
UPSTREAM = {f"{metric.name}{part}": metric for metric in vllm.METRICS for part in PARTS.get(metric.kind, ("",))}
OWN = {metric.name: metric for metric in (*exporter.METRICS, *gpu.METRICS, *joined.METRICS)}
SCRAPE = {"job", "instance"}
by_title = pytest.mark.parametrize("story", EVERY, ids=lambda story: story.title)


def test_every_theme_has_stories() -> None:
    assert list(STORIES) == [group.theme for group in RECORDINGS]
    titles = [story.title for story in EVERY]
    assert len(titles) == len(set(titles))


def test_every_recording_is_told_of_with_a_value_by_a_story_of_its_theme() -> None:
    for group in RECORDINGS:
        told = {check.recording for story in STORIES[group.theme] for check in story.checks if check.samples}
        assert {recording.name for recording in group.recordings} - told == set()


@by_title
def test_what_a_story_expects_has_the_declared_labels(story: Story) -> None:
    for check in story.checks:
        for sample in check.samples:
            assert set(sample.labels) == set(RECORDED[check.recording].labels), check.recording


@by_title
def test_what_goes_into_a_story_is_as_the_exporter_serves_it(story: Story) -> None:
    for series in story.series:
        name, _, text = series.selector.partition("{")
        labels = set(re.findall(r'(\w+)="', text)) - SCRAPE
        if name in OWN:
            assert labels == {label.name for label in OWN[name].labels}, series.selector
        elif labels & {"server"}:
            assert {"node", "server"} <= labels
            assert ("engine" in labels) == (UPSTREAM[name].scope is Scope.ENGINE), series.selector
            assert set(UPSTREAM[name].labels) <= labels, series.selector
        else:
            assert name in UPSTREAM
