"""What was decided for a page's series, so that the next scrape of the same series need not decide it again."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from vllmwatch.exporter.family import escape_help
from vllmwatch.exporter.vllm.cache_size import KvCacheSize, kv_cache_sizes
from vllmwatch.exporter.vllm.draft import Draft, read_draft
from vllmwatch.exporter.vllm.resolve import Naming, Resolution, Resolved, resolve
from vllmwatch.exporter.vllm.series import (
    Identity,
    Key,
    SeriesWriter,
    engine_when_missing,
    engines_of,
    model_names_of,
)
from vllmwatch.sources.vllm.text import Sample, are_values
from vllmwatch.spec.reason import DropReason

_HELP_ESCAPE = re.compile(r"\\([\\n])")


@dataclass(frozen=True, slots=True)
class PlannedFamily:
    """A family on our page: `template` holds its sample lines with `%b` where values go, `slots` which values."""

    name: str
    kind: str
    help: bytes
    template: bytes
    slots: slice
    series: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What a page says of its server, apart from figures."""

    has_vllm: bool
    is_router: bool
    ended: bool
    samples: int
    series_on_page: int
    engines: tuple[str, ...]
    model_names: tuple[str, ...]
    dropped: tuple[tuple[DropReason, int], ...]
    kv_cache_sizes: tuple[KvCacheSize, ...] = ()


class PagePlan:
    """The decisions for one sequence of series.

    `values(body)` is the quick way: where each line begins as it did when the plan was made, only the values are cut
    out of it. It returns None where anything else changed; then a new plan is due.
    """

    __slots__ = ("_exact", "_fixed_bytes", "_keys", "_pick", "_sentinels", "_trailing", "facts", "families")

    def __init__(
        self,
        draft: Draft,
        kept: Sequence["_Kept"],
        unknown_lines: set[int],
        families: tuple[PlannedFamily, ...],
        facts: PageFacts,
    ) -> None:
        self.families = families
        self.facts = facts
        self._pick = picker([item.line for item in kept])
        self._trailing = not all(item.sample.bare for item in kept)
        self._sentinels = [(slot, item.unknown) for slot, item in enumerate(kept) if item.unknown is not None]
        self._keys, self._exact = _keys_of(draft, unknown_lines)
        self._fixed_bytes = sum(map(len, self._keys)) + len(self._keys) - 1

    def values(self, body: bytes) -> Sequence[bytes] | None:
        """Return the values of the plan's series, in the order of its slots, or None where it does not fit."""
        lines = body.split(b"\n")
        if len(lines) != len(self._keys):
            return None
        # What stays of each line, whole where it does not begin as it did, which shows in the sum.
        rests = list(map(bytes.removeprefix, lines, self._keys))
        if len(b"".join(rests)) + self._fixed_bytes != len(body):
            return None
        if any(lines[number] != text for number, text in self._exact):
            return None
        values = self._pick(rests)
        if self._trailing:
            values = tuple((value.split(None, 1) or [b""])[0] for value in values)
        if not are_values(values):
            return None
        if any(float(values[slot]) == unknown for slot, unknown in self._sentinels):
            return None
        return values


def picker(numbers: Sequence[int]) -> Callable[[Sequence[bytes]], tuple[bytes, ...]]:
    """Return what picks the texts at these places out of many, as a tuple however few they are."""
    if len(numbers) > 1:
        return itemgetter(*numbers)
    return lambda texts: tuple(texts[number] for number in numbers)


@dataclass(frozen=True, slots=True)
class _Kept:
    line: int
    sample: Sample
    series: str
    unknown: float | None


def make_plan(
    body: bytes,
    naming: Naming,
    identity: Identity,
    left_out: frozenset[str],
    *,
    openmetrics: bool,
    complete: bool,
) -> PagePlan:
    """Read a page wholly and decide name, labels and place of each of its series."""
    draft = read_draft(body, openmetrics=openmetrics, complete=complete)
    resolution = resolve(draft, naming, openmetrics=openmetrics)
    engines = engines_of(resolution.families)
    engine = engine_when_missing(engines)
    choice = _choose(resolution.families, SeriesWriter(identity, engine, left_out))
    if choice.duplicates and left_out:
        # The labels that were left out are all that tells some series apart, so they stay.
        choice = _choose(resolution.families, SeriesWriter(identity, engine, frozenset()))
    families, slots = _compile(resolution.families, choice.kept)
    facts = _facts_of(draft, resolution, engines, len(slots), choice.duplicates)
    return PagePlan(draft, slots, choice.unknown_lines, families, facts)


@dataclass(slots=True)
class _Choice:
    """Which samples are kept, family by family, and which lines say that they do not know."""

    kept: list[list["_Kept"]] = field(default_factory=list)
    duplicates: int = 0
    unknown_lines: set[int] = field(default_factory=set)


def _choose(families: list[Resolved], writer: SeriesWriter) -> _Choice:
    choice = _Choice()
    seen: set[Key] = set()
    for family in families:
        mine: list[_Kept] = []
        groups: set[Key] = set()
        for line, name, sample in family.samples:
            if _is_unknown(family, sample):
                choice.unknown_lines.add(line)
                continue
            series = writer.series(name, sample, family)
            groups.add(series.group)
            if series.key in seen:
                choice.duplicates += 1
                continue
            seen.add(series.key)
            mine.append(_Kept(line, sample, series.text, family.unknown_value))
        for line, name, sample in family.older:
            series = writer.series(name, sample, family)
            if series.group not in groups and series.key not in seen:
                seen.add(series.key)
                mine.append(_Kept(line, sample, series.text, family.unknown_value))
        choice.kept.append(mine)
    return choice


def _is_unknown(family: Resolved, sample: Sample) -> bool:
    return family.unknown_value is not None and float(sample.value) == family.unknown_value


def _compile(families: list[Resolved], kept: list[list[_Kept]]) -> tuple[tuple[PlannedFamily, ...], list[_Kept]]:
    planned = []
    slots: list[_Kept] = []
    for family, mine in zip(families, kept, strict=True):
        if not mine:
            continue
        begin = len(slots)
        slots.extend(mine)
        template = "".join(item.series.replace("%", "%%") + " %b\n" for item in mine).encode()
        planned.append(
            PlannedFamily(
                family.name,
                family.kind,
                _as_help(family.help),
                template,
                slice(begin, len(slots)),
                tuple(item.series for item in mine),
            )
        )
    return tuple(planned), slots


def _as_help(raw: str) -> bytes:
    """Return a HELP text, escaped as upstream wrote it; what is not a legal escape is escaped."""
    plain = _HELP_ESCAPE.sub(lambda match: "\n" if match.group(1) == "n" else "\\", raw)
    return escape_help(plain.replace("\r", " ")).encode()


def _facts_of(draft: Draft, resolution: Resolution, engines: list[str], samples: int, duplicates: int) -> PageFacts:
    dropped = dict(resolution.dropped)
    if duplicates:
        dropped[DropReason.DUPLICATE_SERIES] = duplicates
    return PageFacts(
        has_vllm=resolution.has_vllm,
        is_router=resolution.is_router,
        ended=draft.ended,
        samples=samples,
        series_on_page=sum(len(family.samples) for family in draft.families.values()),
        engines=tuple(engines),
        model_names=tuple(model_names_of(resolution.families)),
        dropped=tuple(dropped.items()),
        kv_cache_sizes=kv_cache_sizes(resolution.families, engine_when_missing(engines)),
    )


def _keys_of(draft: Draft, unknown_lines: set[int]) -> tuple[list[bytes], list[tuple[int, bytes]]]:
    """Return what each line must begin with, and the lines that must be the same to the letter.

    The latter are those that their value alone left out: unreadable ones, and unknown values.
    """
    keys = list(draft.lines)
    samples = {number: sample for family in draft.families.values() for number, sample in family.samples}
    exact = []
    for number, line in enumerate(draft.lines):
        sample = samples.get(number)
        if sample is not None:
            keys[number] = line[: sample.value_start]
        if number in unknown_lines or (sample is None and not line.lstrip().startswith(b"#")):
            exact.append((number, line))
    return keys, exact
