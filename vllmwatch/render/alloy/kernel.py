"""The stages for the kernel's lines, whose level and time the journal knows."""

from collections.abc import Iterator

from vllmwatch.render.alloy.events import event_stages
from vllmwatch.render.alloy.stages import Stage, closing_stages, redaction_stages
from vllmwatch.render.alloy.syntax import Comment, block
from vllmwatch.spec.logline import LogCatalog, LogSource


def kernel_stages(catalog: LogCatalog) -> Iterator[Stage]:
    """Yield the stages, in their order."""
    yield block("stage.static_labels", values={"job": "kernel"})
    yield Comment("What nobody may keep.")
    yield from redaction_stages(catalog.redactions)
    yield block("stage.template", source="told", template="{{ .Entry }}")
    yield from event_stages([each for each in catalog.events if each.source is LogSource.KERNEL], '{job="kernel"}')
    yield from closing_stages()
