"""Families of a page under the names that they have on ours: one name an idea, dead weight left out."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from vllmwatch.exporter.vllm.draft import Draft, DraftFamily
from vllmwatch.exporter.vllm.names import Known, NameBook
from vllmwatch.sources.vllm.text import Sample
from vllmwatch.spec.reason import DropReason
from vllmwatch.spec.upstream import Scope, UpstreamKind

_OURS = "vllmwatch_"
_TOTAL = "_total"
_CREATED = "_created"
_DEAD_PREFIX = "python_"
# Types that text format 0.0.4 does not know, as what it can say of them.
_TYPES_OF_TEXT_FORMAT = {"counter", "gauge", "histogram", "summary"}
_GAUGES_OF_OPENMETRICS = {"info", "stateset"}


@dataclass(frozen=True, slots=True)
class Naming:
    """What decides names, the same for every page."""

    book: NameBook
    router_prefix: str
    router_markers: frozenset[str]
    canonical_prefix: str
    keep_created: bool = False


@dataclass(slots=True)
class Resolved:
    """A family under its name on our page. `samples` are (line number, name on our page, sample).

    `older` are samples that an older name of the same metric had on the page: they count only for what the newer name
    does not cover, as where one page has servers of two releases.
    """

    name: str
    kind: str
    help: str
    engine_scope: bool
    unknown_value: float | None
    samples: list[tuple[int, str, Sample]] = field(default_factory=list)
    older: list[tuple[int, str, Sample]] = field(default_factory=list)


@dataclass(slots=True)
class Resolution:
    """All families of a page; `has_vllm` is true where one is vLLM's own, samples or not."""

    families: list[Resolved]
    has_vllm: bool
    is_router: bool
    dropped: dict[DropReason, int]


def resolve(draft: Draft, naming: Naming, *, openmetrics: bool) -> Resolution:
    """Give each family of a page its name on ours; of several names of one idea the newest goes first."""
    _gather_parts(draft, naming.book)
    names = {family.name: naming.book.unprefixed(family.name) for family in draft.families.values()}
    is_router = not naming.router_markers.isdisjoint(names.values())
    result = Resolution([], False, is_router, {})
    if draft.invalid:
        result.dropped[DropReason.INVALID_LINE] = len(draft.invalid)
    found: dict[str, list[tuple[int, Resolved]]] = {}
    for family in draft.families.values():
        name = names[family.name]
        result.has_vllm = result.has_vllm or naming.book.is_vllm(name)
        if _is_dead(family, draft, keep=naming.keep_created):
            continue
        if family.name.startswith(_OURS):
            _count(result, DropReason.RESERVED_NAME, len(family.samples))
            continue
        known = None if is_router else naming.book.find(name, family.kind, family.help)
        if known is None and not is_router and _contradicts(naming.book, name, family):
            _count(result, DropReason.TYPE_CONFLICT, len(family.samples))
            continue
        if is_router and naming.book.is_vllm(name):
            name = naming.router_prefix + name.removeprefix(naming.canonical_prefix)
        for resolved in _named(family, name, known, openmetrics=openmetrics):
            found.setdefault(resolved.name, []).append((known.rank if known else 0, resolved))
    result.families = [_together(versions) for versions in found.values()]
    return result


def _together(versions: list[tuple[int, Resolved]]) -> Resolved:
    """Make one family of all that came out under one name."""
    (rank, newest), *rest = sorted(versions, key=lambda version: version[0])
    for other_rank, other in rest:
        if other_rank == rank:
            newest.samples.extend(other.samples)
        else:
            newest.older.extend(other.samples)
            newest.help = newest.help or other.help
    return newest


def _gather_parts(draft: Draft, book: NameBook) -> None:
    """Put series of a histogram of the catalogue, on a page that does not say what they are, into one family."""
    for family in [family for family in draft.families.values() if not family.kind]:
        name = book.unprefixed(family.name)
        base = book.base_of_part(name)
        if base is None:
            continue
        raw_base = family.name[: len(family.name) - (len(name) - len(base))]
        whole = draft.families.setdefault(raw_base, DraftFamily(raw_base))
        if not whole.kind:
            whole.samples.extend(family.samples)
            del draft.families[family.name]


def _count(result: Resolution, reason: DropReason, samples: int) -> None:
    if samples:
        result.dropped[reason] = result.dropped.get(reason, 0) + samples


def _is_dead(family: DraftFamily, draft: Draft, *, keep: bool) -> bool:
    if keep:
        return False
    if family.name.startswith(_DEAD_PREFIX):
        return True
    base = family.name.removesuffix(_CREATED)
    return base != family.name and (base in draft.families or base + _TOTAL in draft.families)


def _contradicts(book: NameBook, name: str, family: DraftFamily) -> bool:
    if book.base_of_part(name) is not None:
        return True
    kind = book.declared_kind(name)
    return kind is not None and family.kind in _TYPES_OF_TEXT_FORMAT and family.kind != kind


def _named(family: DraftFamily, name: str, known: Known | None, *, openmetrics: bool) -> Iterator[Resolved]:
    if known is not None:
        yield _known_family(family, known)
    elif family.kind == "counter" and (openmetrics or _is_counter_of_openmetrics(family)):
        yield from _openmetrics_counter(family, name)
    elif not openmetrics or family.kind in {"gauge", "histogram", "summary"}:
        kind = family.kind if family.kind in _TYPES_OF_TEXT_FORMAT else "untyped"
        yield _passed_on(family, name, name, kind)
    elif family.kind in _GAUGES_OF_OPENMETRICS:
        suffix = "_info" if family.kind == "info" else ""
        yield _passed_on(family, name, name + suffix, "gauge")
    else:
        yield from _split_untyped(family, name)


def _known_family(family: DraftFamily, known: Known) -> Resolved:
    metric = known.metric
    counter = metric.kind is UpstreamKind.COUNTER
    raw_base = family.name.removesuffix(_TOTAL) if counter else family.name
    resolved = Resolved(metric.name, metric.kind, family.help, metric.scope is Scope.ENGINE, metric.unknown_value)
    for number, sample in family.samples:
        suffix = sample.name.removeprefix(raw_base)
        if suffix != _CREATED:
            resolved.samples.append((number, metric.name if counter else metric.name + suffix, sample))
    return resolved


def _passed_on(family: DraftFamily, name: str, out: str, kind: str) -> Resolved:
    resolved = Resolved(out, kind, family.help, engine_scope=False, unknown_value=None)
    for number, sample in family.samples:
        if sample.name != family.name + _CREATED:
            resolved.samples.append((number, name + sample.name.removeprefix(family.name), sample))
    return resolved


def _is_counter_of_openmetrics(family: DraftFamily) -> bool:
    """Whether a counter on a page in text format is declared as OpenMetrics does it, by its name without `_total`."""
    return any(sample.name == family.name + _TOTAL for _, sample in family.samples)


def _openmetrics_counter(family: DraftFamily, name: str) -> Iterator[Resolved]:
    """A counter's samples end in `_total` by the format; one that does not is passed on untyped."""
    proper = [entry for entry in family.samples if entry[1].name == family.name + _TOTAL]
    improper = [entry for entry in family.samples if entry[1].name == family.name]
    if proper or not improper:
        yield Resolved(name + _TOTAL, "counter", family.help, False, None, [(n, name + _TOTAL, s) for n, s in proper])
    if improper:
        yield Resolved(name, "untyped", family.help, False, None, [(n, name, s) for n, s in improper])


def _split_untyped(family: DraftFamily, name: str) -> Iterator[Resolved]:
    """A type that text format has no word for: each sample name becomes an untyped family of its own."""
    parts: dict[str, Resolved] = {}
    for number, sample in family.samples:
        out = name + sample.name.removeprefix(family.name)
        part = parts.setdefault(out, Resolved(out, "untyped", family.help, engine_scope=False, unknown_value=None))
        part.samples.append((number, out, sample))
    yield from parts.values()
