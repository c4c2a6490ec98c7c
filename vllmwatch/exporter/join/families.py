"""The join as samples."""

from collections.abc import Sequence
from functools import cache

from vllmwatch.catalog import joined as catalog
from vllmwatch.catalog.cards import card_of
from vllmwatch.exporter.family import Families
from vllmwatch.exporter.join.links import Joined
from vllmwatch.exporter.watch import TargetSample
from vllmwatch.sources.nvml.snapshot import NvmlSnapshot

_card = cache(card_of)


def add_join(families: Families, joined: Joined, snapshot: NvmlSnapshot, node: str) -> None:
    """Add which GPU carries which engine, who holds GPUs' memory, what is not known, and what the cards can do."""
    for link in joined.links:
        device = link.device
        families[catalog.ENGINE_GPU_INFO].add(
            1, node, link.server, link.engine, link.rank, device.uuid, str(device.index), device.parent_uuid
        )
    index_of = {gpu.identity.uuid: str(gpu.identity.index) for gpu in snapshot.gpus}
    for (uuid, holder, server), held_bytes in joined.held.items():
        families[catalog.GPU_HELD_MEMORY].add(held_bytes, node, uuid, index_of[uuid], holder, server)
    for uuid, reasons in joined.unmapped.items():
        for reason in sorted(reasons):
            families[catalog.GPU_UNMAPPED].add(1, node, uuid, index_of[uuid], reason)
    for gpu in snapshot.gpus:
        card = _card(gpu.identity.name or "")
        if card is not None:
            labels = (node, gpu.identity.uuid, str(gpu.identity.index))
            families[catalog.GPU_PEAK_FLOPS].add_each(card.peak_flops, *labels)
            families[catalog.GPU_PEAK_MEMORY_BANDWIDTH].add(card.memory_bandwidth, *labels)


def add_kv_cache_sizes(families: Families, samples: Sequence[TargetSample]) -> None:
    """Add how many tokens each engine's KV cache holds."""
    for sample in samples:
        sizes = sample.page.plan.facts.kv_cache_sizes if sample.page is not None else ()
        for size in sizes:
            families[catalog.ENGINE_KV_CACHE_SIZE].add(
                size.tokens, sample.target.node, sample.target.server, size.engine, size.basis
            )
