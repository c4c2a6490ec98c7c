"""The stages that give lines of files the time that stands in them: the journal and Docker know the time themselves.

Alloy gives a time without a year this year, unless one of it and now is in December and the other in January; a file
that is read later would get times in the future, which Loki refuses. So the year is found here: the one that makes the
time past. Where a time is ahead of the clock by less than a day in any year, the zone is another than was said, and the
line keeps the time at which it was read.
"""

from collections.abc import Iterator

from vllmwatch.render.alloy.syntax import Block, Comment, block
from vllmwatch.render.log_settings import LogSettings

_LAYOUT = "2006-01-02 15:04:05"
_FALLBACKS = ("2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05")
_WITHOUT_YEAR = "^(?P<day_time>[0-9]{2}-[0-9]{2} [0-9:]{8}(?:[.,][0-9]+)?)$"


def time_stages(settings: LogSettings) -> Iterator[Block | Comment]:
    """Yield the stages for lines that have the label `filename`; none where no file is shipped."""
    if not settings.files:
        return
    yield Comment(
        "Lines of files have a time of their own, without a year; those without any get that of the line before."
    )
    yield block(
        "stage.match",
        block("stage.regex", source="time", expression=_WITHOUT_YEAR),
        block("stage.template", source="time", template=_with_year(settings.time_zone)),
        block(
            "stage.timestamp",
            source="time",
            format=_LAYOUT,
            fallback_formats=list(_FALLBACKS),
            location=settings.time_zone,
            action_on_failure="fudge",
        ),
        selector='{job="vllm",filename=~".+"}',
    )


def _with_year(zone: str) -> str:
    """Return the template of a time with its year; times in this form compare as texts."""
    now, ahead = f'(dateInZone "{_LAYOUT}" now "{zone}")', f'(dateInZone "{_LAYOUT}" (dateModify "24h" now) "{zone}")'
    year = f"(atoi (substr 0 4 {now}))"
    return (
        "{{ if .day_time }}"
        f"{{{{ $now := {now} }}}}{{{{ $ahead := {ahead} }}}}{{{{ $year := {year} }}}}"
        '{{ $next := printf "%d-%s" (add $year 1) .day_time }}{{ $this := printf "%d-%s" $year .day_time }}'
        '{{ $last := printf "%d-%s" (sub $year 1) .day_time }}'
        "{{ if le $next $ahead }}{{ else if le $this $now }}{{ $this }}"
        "{{ else if gt $this $ahead }}{{ $last }}{{ end }}"
        "{{ else }}{{ .Value }}{{ end }}"
    )
