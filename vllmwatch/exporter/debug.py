"""Why: what `/debug/last` says of each target, of NVML and of discovery after the last sample."""

from vllmwatch.exporter.collector import Collection
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.address import public_url
from vllmwatch.spec.join import UNMAPPED_MEANINGS
from vllmwatch.spec.reason import REASON_MEANINGS


def debug_of(collection: Collection) -> dict[str, object]:
    """Return the last sample with the reasons behind it, ready for JSON."""
    gpus = collection.gpus
    return {
        "sampled_at": collection.sampled_at_seconds,
        "duration_seconds": collection.duration_seconds,
        "targets": [_target(sample) for sample in collection.targets],
        "discovery_problems": list(collection.problems),
        "nvml": {
            "up": gpus is not None and gpus.up,
            "reason": "disabled" if gpus is None else gpus.down_reason,
            "gpus": len(gpus.gpus) if gpus is not None else 0,
            "gpus_without_identity": gpus.unidentified if gpus is not None else 0,
            "read_seconds": gpus.read_seconds if gpus is not None else None,
        },
        "join": _join(collection.joined),
    }


def _join(joined: Joined) -> dict[str, object]:
    return {
        "links": [
            {
                "server": link.server,
                "engine": link.engine,
                "rank": link.rank,
                "uuid": link.device.uuid,
                "gpu": link.device.index,
                "parent_uuid": link.device.parent_uuid,
            }
            for link in joined.links
        ],
        "unmapped": [
            {"uuid": uuid, "reason": reason, "meaning": UNMAPPED_MEANINGS[reason]}
            for uuid, reasons in joined.unmapped.items()
            for reason in sorted(reasons)
        ],
        "notes": list(joined.notes),
    }


def _target(sample: TargetSample) -> dict[str, object]:
    facts = sample.page.plan.facts if sample.page is not None else None
    return {
        "server": sample.target.server,
        "url": public_url(sample.target.url),
        "origin": sample.target.origin,
        "pid": sample.target.pid,
        "up": sample.up,
        "reason": sample.reason,
        "meaning": REASON_MEANINGS[sample.reason] if sample.reason is not None else "",
        "detail": sample.detail,
        "duration_seconds": sample.duration_seconds,
        "last_success_seconds": sample.facts.last_success_seconds,
        "samples": facts.samples if facts is not None else 0,
        "series_on_page": facts.series_on_page if facts is not None else 0,
        "dropped": dict(facts.dropped) if facts is not None else {},
        "engines": list(sample.facts.engines),
    }
