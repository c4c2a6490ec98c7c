"""The exporter's figures are those of the recordings: each story that promtool plays is played to both."""

from collections.abc import Mapping

import pytest

from tests.exporter.figures.played import Stage, seconds_of
from tests.threshold_story import OWN, SLOW
from tests.threshold_story import STORY as STORY_OF_THRESHOLDS
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.recordings.stories import STORIES
from vllmwatch.catalog.recordings.stories.worked_example import WORKED_EXAMPLE
from vllmwatch.exporter.figures import reckoner
from vllmwatch.exporter.figures.engine import Figures
from vllmwatch.exporter.figures.reckoner import FleetFigures
from vllmwatch.spec.recording import LEVELS
from vllmwatch.spec.story import DIGITS, Check, Story

Labels = tuple[str, ...]
# What each level's figures are told apart by; the model of a server is known from the server.
IDENTITY: dict[str, Labels] = {
    "engine": ("server", "engine", "model_name"),
    "server": ("server",),
    "model": ("model_name",),
    "gpu": ("uuid",),
    "engine_gpu": ("server", "engine", "uuid"),
}
# Read by alerts and boards alone: windows for them, shares held against their own past, and faults of GPUs.
NOT_FIGURES = frozenset({"errors", "caches", "gpus", "life", "sleep", "transfer"})
THEMES = {recording.name: group.theme for group in RECORDINGS for recording in group.recordings}
BY_NAME = {recording.name: recording for group in RECORDINGS for recording in group.recordings}


def is_figure(name: str) -> bool:
    """Whether the exporter has the figure of a recording.

    It has none that reaches beyond the hour that it remembers, and none of what `/api/v1/fleet` shows in other words:
    who a server and an engine's GPUs are, the shares in GPUs, the buckets that quantiles are made of, sums by node;
    and none of the themes that only alerts and boards read.
    """
    recording = BY_NAME[name]
    return (
        THEMES[name] not in NOT_FIGURES
        and recording.level in IDENTITY
        and recording.figure != "info"
        and not recording.figure.endswith("_bucket")
        and not recording.how.endswith(("6h", "72h"))
    )


def is_of_one_node(story: Story) -> bool:
    """Whether a story is of GPUs of one node, as those of one exporter are."""
    nodes = {told.labels["node"] for told in Stage(story).told if told.name == "vllmwatch_engine_gpu_info"}
    return len(nodes) < 2


CHECKED = [
    pytest.param(story, id=f"{theme}: {story.title}")
    for theme, stories in STORIES.items()
    for story in stories
    if any(is_figure(check.recording) for check in story.checks) and is_of_one_node(story)
]


@pytest.mark.parametrize("story", CHECKED)
def test_a_story_is_told_as_the_recordings_tell_it(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(story)
    monkeypatch.setattr(reckoner, "_card", stage.cards().get)
    told = 0
    for check in sorted(story.checks, key=lambda check: seconds_of(check.time)):
        if is_figure(check.recording):
            figures = stage.until(seconds_of(check.time))
            assert said(figures, check) == expected(check), (check.recording, check.time)
            told += 1
    assert told


def expected(check: Check) -> dict[Labels, float]:
    recording = BY_NAME[check.recording]
    names = (*IDENTITY[recording.level], *(label.name for label in recording.own_labels))
    return {
        tuple(sample.labels.get(name, "") for name in names): round(sample.value, DIGITS) for sample in check.samples
    }


def said(figures: FleetFigures, check: Check) -> dict[Labels, float]:
    recording = BY_NAME[check.recording]
    found: dict[Labels, float] = {}
    for identity, own in of_level(figures, recording.level).items():
        value = own.get(f"{recording.figure}:{recording.how}")
        if isinstance(value, dict):
            found |= {(*identity, label): round(number, DIGITS) for label, number in value.items()}
        elif value is not None:
            found[identity] = round(value, DIGITS)
    return found


def of_level(figures: FleetFigures, level: str) -> Mapping[Labels, Figures]:
    named: Mapping[object, object] = getattr(figures, f"{level}s")
    return {
        key if isinstance(key, tuple) else (key,): own  # type: ignore[misc]
        for key, own in named.items()
    }


def test_a_model_with_a_threshold_of_its_own_is_counted_at_it() -> None:
    stage = Stage(STORY_OF_THRESHOLDS, OWN)
    for check in STORY_OF_THRESHOLDS.checks:
        assert said(stage.until(seconds_of(check.time)), check) == expected(check), check.recording


def test_thresholds_are_taken_over_by_a_reload() -> None:
    def slow(stage: Stage, minutes: int) -> object:
        return stage.until(60 * minutes).models[SLOW]["request_latency_slow:ratio_increase1h"]

    stage = Stage(STORY_OF_THRESHOLDS)
    assert slow(stage, 15) == pytest.approx(0.5)
    stage.configure(OWN)
    # From the reload on, since other buckets than those of the thresholds are not kept for an hour.
    assert slow(stage, 25) == pytest.approx(0.05)


def test_the_worked_example_comes_out_as_by_hand() -> None:
    stage = Stage(WORKED_EXAMPLE)
    for check in sorted(WORKED_EXAMPLE.checks, key=lambda check: seconds_of(check.time)):
        if is_figure(check.recording):
            assert said(stage.until(seconds_of(check.time)), check) == expected(check), check.recording


def test_every_figure_of_the_exporter_is_a_recording_and_most_recordings_are_figures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: set[str] = set()
    for stories in STORIES.values():
        for story in stories:
            stage = Stage(story)
            monkeypatch.setattr(reckoner, "_card", stage.cards().get)
            for check in sorted(story.checks, key=lambda check: seconds_of(check.time)):
                figures = stage.until(seconds_of(check.time))
                for level in IDENTITY:
                    for own in of_level(figures, level).values():
                        seen |= {f"vllmwatch:{level}:{name}" for name in own}
    assert seen <= BY_NAME.keys()
    assert {name for name in BY_NAME if is_figure(name)} - seen == set()
    assert set(IDENTITY) <= LEVELS.keys()
