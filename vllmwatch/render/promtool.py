"""alerts/tests/*.yml: the stories of the recordings as unit tests of promtool."""

from collections.abc import Iterable, Sequence
from typing import Any

from vllmwatch.render import mark
from vllmwatch.render.rules import dump
from vllmwatch.spec.promql import names_in
from vllmwatch.spec.recording import Group
from vllmwatch.spec.story import DIGITS, Check, Sample, Story

_STEP = f"{10**-DIGITS:.{DIGITS}f}"


def render_stories(needed: Sequence[Group], stories: Sequence[Story]) -> str:
    """Return the test file of stories, which loads the groups that they need; raises ValueError without stories."""
    if not stories:
        raise ValueError(f"{needed[-1].theme}: there are no stories")
    data = {
        "rule_files": [f"../rules/{each.theme}.yml" for each in needed],
        "evaluation_interval": f"{min(each.interval_seconds for each in needed)}s",
        "group_eval_order": [each.name for each in needed],
        "tests": [_test(story) for story in stories],
    }
    return mark.comment(dump(data))


def leaned_on(group: Group, groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return a group and all that it leans on, directly or not, in the order of `groups`."""
    used = {name for recording in group.recordings for name in names_in(recording.expression)}
    needed = {group}
    for other in groups:
        if other is not group and used & {recording.name for recording in other.recordings}:
            needed.update(leaned_on(other, groups))
    return tuple(each for each in groups if each in needed)


def groups_read_by(expressions: Iterable[str], groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return the groups whose recordings are read by any of the expressions, and all that those lean on, in order."""
    used = {name for expression in expressions for name in names_in(expression)}
    needed = {
        leaned
        for group in groups
        if used & {recording.name for recording in group.recordings}
        for leaned in leaned_on(group, groups)
    }
    return tuple(group for group in groups if group in needed)


def story_path(name: str) -> str:
    """Return where the test file of a theme, or of the worked example, lies in the checkout."""
    return f"alerts/tests/{name}.yml"


def _test(story: Story) -> dict[str, Any]:
    return {
        "name": story.title,
        "interval": f"{story.interval_seconds}s",
        "input_series": [{"series": series.selector, "values": series.values} for series in story.series],
        "promql_expr_test": [_check(check) for check in story.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        # Rounded, since releases of Prometheus differ in the last bits.
        "expr": f"round({check.recording}, {_STEP})",
        "eval_time": check.time,
        "exp_samples": [{"labels": _labels(sample), "value": sample.value} for sample in check.samples],
    }


def _labels(sample: Sample) -> str:
    # A label that is empty is none.
    pairs = [f'{name}="{value}"' for name, value in sorted(sample.labels.items()) if value]
    return f"{{{', '.join(pairs)}}}"
