"""The pages of all targets as one: each family once, HELP and TYPE once, all its samples together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain

from vllmwatch.exporter.vllm.plan import PagePlan, PlannedFamily, picker
from vllmwatch.exporter.vllm.translator import TranslatedPage
from vllmwatch.spec.upstream import PARTS

_UNTYPED = "untyped"
# The types are texts here, since a page may give any.
_DERIVED: dict[str, tuple[str, ...]] = {str(kind): parts for kind, parts in PARTS.items()}


@dataclass(slots=True)
class _MergedFamily:
    kind: str
    help: bytes
    templates: list[bytes] = field(default_factory=list)
    picks: list[int] = field(default_factory=list)

    def text(self, name: str) -> bytes:
        """Return HELP, TYPE, and the sample lines with `%b` where values go."""
        encoded = name.encode()
        help_line = b"# HELP %b %b\n" % (encoded, self.help) if self.help else b""
        type_line = b"# TYPE %b %b\n" % (encoded, self.kind.encode())
        return (help_line + type_line).replace(b"%", b"%%") + b"".join(self.templates)


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text, in pieces, and for each page how many samples its type conflicts cost."""

    chunks: list[bytes]
    conflicts: list[int]


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


@dataclass(frozen=True, slots=True)
class _Layout:
    """The merged text of pages with these plans, with `%b` where values go, and which value goes where."""

    plans: list[PagePlan]
    template: bytes
    pick: Callable[[Sequence[bytes]], tuple[bytes, ...]]
    conflicts: list[int]
    kinds: dict[str, str]
    """The type of each family, given to the next merge so that types do not change hands from scrape to scrape."""

    def write(self, pages: Sequence[TranslatedPage]) -> Merged:
        values = list(chain.from_iterable([page.values for page in pages]))
        return Merged([self.template % self.pick(values)], self.conflicts)


def _lay_out(plans: list[PagePlan], kinds_before: dict[str, str]) -> _Layout:
    present = {family.name for plan in plans for family in plan.families}
    table = _Table({name: kind for name, kind in kinds_before.items() if name in present})
    conflicts = [0] * len(plans)
    # Where each page's values begin among those of all pages.
    begins = list(accumulate((plan.facts.samples for plan in plans), initial=0))
    # A page that says no types must not take a name from those that do.
    for typed in (True, False):
        for number, plan in enumerate(plans):
            for family in plan.families:
                if (family.kind != _UNTYPED) is typed:
                    conflicts[number] += _add(table, family, begins[number])
    picks = [number for merged in table.families.values() for number in merged.picks]
    template = b"".join([merged.text(name) for name, merged in table.families.items()])
    kinds = {name: merged.kind for name, merged in table.families.items()}
    return _Layout(plans, template, picker(picks), conflicts, kinds)


def _add(table: _Table, family: PlannedFamily, begin: int) -> int:
    """Add a page's family to the table; returns how many samples its type costs it."""
    places = range(begin + family.slots.start, begin + family.slots.stop)
    merged = table.accept(family)
    if merged is None:
        return len(places)
    merged.templates.append(family.template)
    merged.picks.extend(places)
    return 0


class Merger:
    """Merges the pages of scrape after scrape, in the order given.

    Of a family that pages give different types, those of the type that came first stay, and keep it from one merge
    to the next; the others are left out and counted. What was decided stays while all pages have the series that they
    had.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, str] = {}
        self._layout: _Layout | None = None

    def merge(self, pages: Sequence[TranslatedPage]) -> Merged:
        """Merge pages; each is taken at once."""
        plans = [page.plan for page in pages]
        layout = self._layout
        if layout is None or layout.plans != plans:
            layout = _lay_out(plans, self._kinds)
            # Types that changed hands may let in next time what they kept out now.
            self._layout = layout if layout.kinds == self._kinds else None
            self._kinds = layout.kinds
        return layout.write(pages)
