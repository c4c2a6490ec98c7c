"""docs/reference/loglines.md: what in a log is known, what it tells, and what of it is not kept."""

from collections.abc import Iterator

from vllmwatch.render import mark
from vllmwatch.render.tables import code, table
from vllmwatch.spec.logline import REDACTED, Event, LogCatalog, LogSource, Milestone

_INTRODUCTION = """\
# Lines of logs

What `vllmwatch logs parse`, the exporter and the log shipper know in the logs of vLLM servers and of the kernel. A line
that is not known is kept as it is. Of several that match, the first in the tables holds."""
_PLACES = {LogSource.VLLM: "Events in logs of vLLM", LogSource.KERNEL: "Events in the kernel's log"}
_NO_FIGURES = "none"


def render_loglines_page(catalog: LogCatalog) -> str:
    """Return the page."""
    parts = [_INTRODUCTION]
    for source, title in _PLACES.items():
        parts += [f"## {title}", _events([event for event in catalog.events if event.source is source])]
    parts += ["## Lines of normal life", table(("name", "figures", "example"), map(_milestone, catalog.milestones))]
    parts += ["## What is not kept", _redactions(catalog)]
    parts += ["## How lines begin", table(("name", "written by", "example"), _prefixes(catalog))]
    return mark.markdown("\n\n".join(parts))


def _events(events: list[Event]) -> str:
    rows = [(code(event.name), f"{event.meaning[0].upper()}{event.meaning[1:]}.", event.remedy) for event in events]
    return table(("name", "meaning", "what helps"), rows)


def _milestone(milestone: Milestone) -> tuple[str, str, str]:
    figures = ", ".join(code(figure.key) for figure in milestone.figures) or _NO_FIGURES
    return code(milestone.name), figures, code(milestone.matches[0][0])


def _redactions(catalog: LogCatalog) -> str:
    rows = [
        (code(each.name), each.what, "to the end" if each.payload else "itself", code(each.matches[0][1]))
        for each in catalog.redactions
    ]
    head = table(("name", "what", "how much", "what is left"), rows)
    return f"{code(REDACTED)} stands where something was.\n\n{head}"


def _prefixes(catalog: LogCatalog) -> Iterator[tuple[str, str, str]]:
    for prefix in catalog.prefixes:
        yield code(prefix.name), prefix.since, code(prefix.matches[0][0])
