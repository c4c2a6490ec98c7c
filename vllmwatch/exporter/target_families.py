"""Samples of targets as families of our own."""

from collections.abc import Sequence

from vllmwatch.catalog import exporter as catalog
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.address import public_url
from vllmwatch.spec.reason import DropReason


def add_targets(families: Families, samples: Sequence[TargetSample], conflicts: Sequence[int]) -> None:
    """Add what is to be said of each target; `conflicts` are the samples that each lost in the merge."""
    for sample, lost in zip(samples, conflicts, strict=True):
        who = (sample.target.server, sample.target.node)
        families[catalog.TARGET_UP].add(int(sample.up), *who)
        if sample.reason is not None:
            families[catalog.TARGET_ERROR].add(1, *who, sample.reason)
        families[catalog.TARGET_SCRAPE_DURATION].add(sample.duration_seconds, *who)
        families[catalog.TARGET_LAST_SUCCESS].add(sample.facts.last_success_seconds, *who)
        _add_info(families, sample, who)
        if sample.page is not None:
            _add_counts(families, sample, who, lost)


def _add_info(families: Families, sample: TargetSample, who: tuple[str, str]) -> None:
    target, facts = sample.target, sample.facts
    families[catalog.TARGET_INFO].add(
        1, *who, public_url(target.url), target.origin, facts.role, facts.version, facts.model_name
    )


def _add_counts(families: Families, sample: TargetSample, who: tuple[str, str], lost: int) -> None:
    assert sample.page is not None
    facts = sample.page.plan.facts
    families[catalog.TARGET_SAMPLES].add(facts.samples - lost, *who)
    for reason, count in facts.dropped:
        if reason is not DropReason.TYPE_CONFLICT:
            families[catalog.TARGET_DROPPED_SAMPLES].add(count, *who, reason)
    conflicting = lost + dict(facts.dropped).get(DropReason.TYPE_CONFLICT, 0)
    if conflicting:
        families[catalog.TARGET_DROPPED_SAMPLES].add(conflicting, *who, DropReason.TYPE_CONFLICT)
