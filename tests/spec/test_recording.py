"""A recording whose name, unit and labels disagree cannot be declared, nor a story that tells nothing."""

import pytest

from vllmwatch.spec.metric import Label
from vllmwatch.spec.recording import LEVELS, REQUESTS, TOKENS, Group, Recording
from vllmwatch.spec.story import Check, Sample, Series, Story
from vllmwatch.spec.unit import INFO, RATIO, SECONDS, WATTS, Unit


def test_a_good_recording_is_named_after_its_level_figure_and_how() -> None:
    recording = Recording("engine", "requests_running", "max", "Words.", REQUESTS, "x", (Label("basis", "Words."),))
    assert str(recording) == "vllmwatch:engine:requests_running:max"
    assert recording.labels == ("node", "server", "engine", "model_name", "basis")


@pytest.mark.parametrize(
    ("level", "figure", "how", "unit", "complaint"),
    [
        ("instance", "requests", "max", REQUESTS, "level is one of"),
        ("engine", "Requests", "max", REQUESTS, "lower-case"),
        ("engine", "requests", "mean", REQUESTS, "'mean' does not say"),
        ("engine", "requests", "rate", REQUESTS, "'rate' does not say"),
        ("engine", "requests", "rate5", REQUESTS, "'rate5' does not say"),
        ("engine", "latency_seconds", "p999_5m", SECONDS, "'p999_5m' does not say"),
        ("engine", "kv_cache_usage", "max", RATIO, "ratio"),
        ("server", "power", "avg1m", WATTS, "watts"),
        ("server", "headroom", "now", TOKENS, "tokens"),
        ("server", "models", "now", INFO, "always 1"),
    ],
)
def test_a_bad_name_is_refused(level: str, figure: str, how: str, unit: Unit, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Recording(level, figure, how, "Words.", unit, "x")


@pytest.mark.parametrize("how", ["now", "rate5m", "ratio_rate5m", "ratio_increase6h", "avg1h", "p99_5m", "last1h"])
def test_ways_of_reckoning_are_known(how: str) -> None:
    assert Recording("server", "x_ratio", how, "Words.", RATIO, "x").name == f"vllmwatch:server:x_ratio:{how}"


@pytest.mark.parametrize("text", ["", "words.", "Words", "Two\nlines."])
def test_help_is_one_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="sentence"):
        Recording("server", "x", "now", text, REQUESTS, "x")


@pytest.mark.parametrize(("expression", "complaint"), [("", "asked for"), (" x", "blanks"), ("(x", "parentheses")])
def test_a_bad_expression_is_refused(expression: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Recording("server", "x", "now", "Words.", REQUESTS, expression)


def test_a_label_of_the_level_is_not_named_again() -> None:
    with pytest.raises(ValueError, match="twice"):
        Recording("server", "x", "now", "Words.", REQUESTS, "x", (Label("server", "Words."),))


def test_a_group_has_recordings_each_once_and_an_interval_that_rules_have() -> None:
    recording = Recording("server", "x", "now", "Words.", REQUESTS, "x")
    assert Group("some_theme", "Words.", 15, (recording,)).name == "vllmwatch-some-theme"
    with pytest.raises(ValueError, match="at least one"):
        Group("theme", "Words.", 15, ())
    with pytest.raises(ValueError, match="vllmwatch:server:x:now is recorded twice"):
        Group("theme", "Words.", 15, (recording, recording))
    with pytest.raises(ValueError, match="interval"):
        Group("theme", "Words.", 20, (recording,))
    with pytest.raises(ValueError, match="theme"):
        Group("Theme 1", "Words.", 15, (recording,))


def test_every_level_says_where_its_figures_are() -> None:
    assert "model_name" in LEVELS["model"]
    assert all("node" in labels for level, labels in LEVELS.items() if level != "model")


def test_a_story_has_series_and_checks_and_each_series_once() -> None:
    series = Series('x{a="b"}', "1x9")
    check = Check("10m", "vllmwatch:server:x:now", (Sample({}, 1),))
    with pytest.raises(ValueError, match="series and checks"):
        Story("title", 15, (series,), ())
    with pytest.raises(ValueError, match="twice"):
        Story("title", 15, (series, series), (check,))
    with pytest.raises(ValueError, match="braces"):
        Series("x", "1x9")
    with pytest.raises(ValueError, match="10 minutes"):
        Check("10 minutes", "x", ())
