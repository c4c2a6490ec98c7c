"""docs/reference/recordings.md: every recording with its meaning, unit, labels and expression."""

from collections.abc import Sequence

from vllmwatch.render import mark
from vllmwatch.render.tables import code, table
from vllmwatch.spec.recording import LEVELS, Group, Recording

_INTRODUCTION = """\
# Recordings

Figures that Prometheus computes by the rules in `alerts/rules` and keeps under these names, on which alerts and boards
lean: only these rules know the names of vLLM's metrics. A name is `vllmwatch:<level>:<figure>:<how>`. The level says
whose the figure is; `how` says how it is reckoned, with the time that it looks back on, or `now` for what holds at
the moment. A figure that cannot be told is absent: there is no share without traffic, and never one that is not a
number. `docs/figures.md` reckons some of them by hand.

Where several exporters or jobs show the same series it counts once; labels of a scrape (`job`, `instance`) are not
kept. Series without `server` were not scraped through the exporter and are left out."""


def render_recordings_page(groups: Sequence[Group]) -> str:
    """Return the page; raises ValueError when there are no groups."""
    if not groups:
        raise ValueError("recordings.md: nothing to write")
    parts = [_INTRODUCTION, "## Levels", _levels()]
    for group in groups:
        parts += [
            f"## {group.theme.capitalize()}",
            f"{group.help} Group `{group.name}`, every {group.interval_seconds} seconds.",
            table(("name", "unit", "labels", "meaning", "expression"), [_row(each) for each in group.recordings]),
        ]
    return mark.markdown("\n\n".join(parts))


def _levels() -> str:
    rows = [(code(level), ", ".join(code(label) for label in labels)) for level, labels in LEVELS.items()]
    return table(("level", "labels that every figure of it has"), rows)


def _row(recording: Recording) -> tuple[str, ...]:
    return (
        code(recording.name),
        recording.unit.word,
        ", ".join(code(label) for label in recording.labels),
        recording.help,
        code(" ".join(recording.expression.split())),
    )
