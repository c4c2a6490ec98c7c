"""A line in the log when a target is not as it was."""

from dataclasses import replace

from vllmwatch.exporter.changes import Changes
from vllmwatch.exporter.watch import Facts, TargetSample
from vllmwatch.sources.target import Origin, Target
from vllmwatch.spec.reason import Reason

UP = TargetSample(
    Target("http://h:1/metrics", "h:1", "h", Origin.STATIC),
    Facts(model_name="org/m", version="0.32.0"),
    None,
    None,
    "",
    0.1,
)
LOADING = replace(UP, reason=Reason.LOADING)
DOWN = replace(UP, reason=Reason.HTML, detail="<html>\x1b[31m")


def test_a_target_is_told_when_it_changes_and_only_then() -> None:
    changes = Changes()
    assert list(changes.told([LOADING])) == ["h:1 is loading"]
    assert list(changes.told([LOADING])) == []
    assert list(changes.told([UP])) == ["h:1 is up (org/m, 0.32.0)"]
    assert list(changes.told([UP])) == []
    (line,) = changes.told([DOWN])
    assert line.startswith("h:1 is down: html (<html>")
    assert "\x1b" not in line
    assert list(changes.told([replace(DOWN, detail="other")])) == []
    assert list(changes.told([])) == ["h:1 is watched no more"]
    assert list(changes.told([])) == []
