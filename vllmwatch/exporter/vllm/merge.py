"""The pages of all targets as one: each family once, HELP and TYPE once, all its samples together."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from vllmwatch.exporter.vllm.plan import PlannedFamily
from vllmwatch.exporter.vllm.translator import TranslatedPage

_UNTYPED = "untyped"
_DERIVED: dict[str, tuple[str, ...]] = {"histogram": ("_bucket", "_sum", "_count"), "summary": ("_sum", "_count")}


@dataclass(slots=True)
class _MergedFamily:
    kind: str
    help: bytes
    texts: list[bytes] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text, in pieces, and for each page how many samples its type conflicts cost."""

    chunks: list[bytes]
    conflicts: list[int]
    kinds: dict[str, str]
    """The type of each family, given to the next merge so that types do not change hands from scrape to scrape."""


class _Table:
    """Families by name; two of one name and different types do not go together."""

    def __init__(self, kinds_before: dict[str, str]) -> None:
        self.families: dict[str, _MergedFamily] = {}
        self._kinds_before = kinds_before
        self._derived: set[str] = set()

    def accept(self, family: PlannedFamily) -> _MergedFamily | None:
        """Return where a page's family goes, or None where its type contradicts the one that stands."""
        merged = self.families.get(family.name)
        if merged is not None:
            return merged if _agree(merged, family) else None
        before = self._kinds_before.get(family.name, _UNTYPED)
        if before not in {_UNTYPED, family.kind} and family.kind != _UNTYPED:
            return None
        derived = [family.name + suffix for suffix in _DERIVED.get(family.kind, ())]
        if family.name in self._derived or any(name in self.families for name in derived):
            return None
        self._derived.update(derived)
        merged = self.families[family.name] = _MergedFamily(family.kind, family.help)
        return merged


def _agree(merged: _MergedFamily, family: PlannedFamily) -> bool:
    """Whether a family may join; an untyped one and a gauge or counter of one name have the same samples."""
    if merged.kind == family.kind:
        return True
    if _UNTYPED not in {merged.kind, family.kind} or not _DERIVED.keys().isdisjoint({merged.kind, family.kind}):
        return False
    if merged.kind == _UNTYPED:
        merged.kind = family.kind
    return True


def _add(table: _Table, page: TranslatedPage, family: PlannedFamily) -> int:
    """Add a page's family to the table; returns how many samples its type costs it."""
    values = tuple(page.values[family.slots])
    merged = table.accept(family)
    if merged is None:
        return len(values)
    merged.texts.append(family.template % values)
    return 0


def merge(pages: Sequence[TranslatedPage], kinds_before: dict[str, str]) -> Merged:
    """Merge pages in the order given.

    Of a family that pages give different types, those of the type that came first stay, and keep it from one merge
    to the next; the others are left out and counted.
    """
    present = {family.name for page in pages for family in page.plan.families}
    table = _Table({name: kind for name, kind in kinds_before.items() if name in present})
    conflicts = [0] * len(pages)
    # A page that says no types must not take a name from those that do.
    for typed in (True, False):
        for number, page in enumerate(pages):
            for family in page.plan.families:
                if (family.kind != _UNTYPED) is typed:
                    conflicts[number] += _add(table, page, family)
    chunks: list[bytes] = []
    for name, merged in table.families.items():
        encoded = name.encode()
        if merged.help:
            chunks.append(b"# HELP %b %b\n" % (encoded, merged.help))
        chunks.append(b"# TYPE %b %b\n" % (encoded, merged.kind.encode()))
        chunks.extend(merged.texts)
    return Merged(chunks, conflicts, {name: merged.kind for name, merged in table.families.items()})
