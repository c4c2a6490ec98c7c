"""One target's pages, scrape after scrape, under canonical names."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vllmwatch.exporter.vllm.plan import PagePlan, make_plan
from vllmwatch.exporter.vllm.resolve import Naming
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.sources.vllm.fetch import Fetched
from vllmwatch.spec.reason import Reason

# HELP, TYPE and the sample, and as much again for a creation time.
_MOST_LINES_A_SERIES = 6


@dataclass(frozen=True, slots=True)
class TranslatedPage:
    """A page ready to be merged: what was decided for its series, their values, and what is wrong with it."""

    plan: PagePlan
    values: Sequence[bytes]
    reason: Reason | None

    def samples(self, family_name: str) -> Iterator[tuple[str, float]]:
        """Yield the series of one family, as they stand on our page, with their values."""
        for family in self.plan.families:
            if family.name == family_name:
                for series, value in zip(family.series, self.values[family.slots], strict=True):
                    yield series, float(value)


class Translator:
    """Translates the pages of one target; keeps the plan of the last page, since the next has the same series."""

    def __init__(self, naming: Naming, identity: Identity, left_out: frozenset[str], series_limit: int) -> None:
        self._naming = naming
        self._identity = identity
        self._left_out = left_out
        self._series_limit = series_limit
        self._plan: PagePlan | None = None
        self._openmetrics = False

    def translate(self, fetched: Fetched) -> TranslatedPage | Reason:
        """Return the page under canonical names, or the reason that it cannot be read at all.

        A page that ended early keeps its whole families and has the reason `truncated`; one without vLLM's families
        passes on what it has and has the reason `no_vllm_families`.
        """
        body = fetched.body
        unreadable = _unreadable(fetched)
        if unreadable is not None:
            return unreadable
        plan = self._plan
        values = None
        if plan is not None and fetched.complete and fetched.openmetrics == self._openmetrics:
            values = plan.values(body)
        if plan is None or values is None:
            if self._is_too_long(body):
                return Reason.TOO_MANY_SERIES
            plan = self._make_plan(fetched)
            values = plan.values(body)
        if values is None:
            raise RuntimeError("a plan does not fit the page that it was made of")
        if plan.facts.samples == 0 and plan.facts.dropped and not plan.facts.has_vllm:
            return Reason.NOT_METRICS
        return TranslatedPage(plan, values, _what_is_wrong(plan))

    def _is_too_long(self, body: bytes) -> bool:
        """Whether a page has more series than the limit, or more comments than so many series could need."""
        lines = body.count(b"\n")
        if lines <= self._series_limit:
            return False
        return lines > _MOST_LINES_A_SERIES * self._series_limit or lines - body.count(b"\n#") > self._series_limit

    def _make_plan(self, fetched: Fetched) -> PagePlan:
        plan = make_plan(
            fetched.body,
            self._naming,
            self._identity,
            self._left_out,
            openmetrics=fetched.openmetrics,
            complete=fetched.complete,
        )
        self._plan = plan if plan.facts.ended else None
        self._openmetrics = fetched.openmetrics
        return plan


def _unreadable(fetched: Fetched) -> Reason | None:
    body = fetched.body
    start = body[:256].lstrip()
    if not start and not body.strip():
        return Reason.EMPTY if fetched.complete else Reason.TRUNCATED
    if start.startswith(b"<"):
        return Reason.HTML
    if b"\0" in start:
        return Reason.NOT_METRICS
    return None


def _what_is_wrong(plan: PagePlan) -> Reason | None:
    if not plan.facts.ended:
        return Reason.TRUNCATED
    if not plan.facts.has_vllm:
        return Reason.NO_VLLM_FAMILIES
    return None
