"""The stages that find the event of a record: the first of the catalogue that matches what the record tells."""

from collections.abc import Iterator, Sequence

from vllmwatch.render.alloy import patterns
from vllmwatch.render.alloy.syntax import Block, block, selector_text
from vllmwatch.spec.logline import Event


def event_stages(events: Sequence[Event], selector: str) -> Iterator[Block]:
    """Yield the stages that extract `event` from `told`; most records tell of none, and pass by."""
    found = [_found(event) for event in events]
    told = [f"{{{{ {'else ' * bool(index)}if .{_key(event)} }}}}{event.name}" for index, event in enumerate(events)]
    yield block(
        "stage.match",
        *found,
        block("stage.template", source="event", template="".join(told) + "{{ end }}"),
        selector=f"{selector} |~ {selector_text(patterns.any_of(each.pattern for each in events))}",
    )


def _found(event: Event) -> Block:
    return block("stage.regex", source="told", expression=f"(?m)(?P<{_key(event)}>{event.pattern})")


def _key(event: Event) -> str:
    return f"is_{event.name}"
