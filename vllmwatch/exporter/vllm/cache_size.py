"""How many tokens each engine's KV cache holds, which vLLM states in the labels of an info series; pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vllmwatch.exporter.vllm.resolve import Resolved

_INFO = "vllm:cache_config_info"
_TOKENS = "kv_cache_size_tokens"
_MOST_DIGITS = 15


@dataclass(frozen=True, slots=True)
class KvCacheSize:
    """The size of an engine's KV cache in tokens; an estimate where vLLM states blocks alone."""

    engine: str
    tokens: int
    estimated: bool

    @property
    def basis(self) -> str:
        """Where the size comes from, in the words of the label `basis`."""
        return "blocks" if self.estimated else "reported"


def kv_cache_sizes(families: Iterable[Resolved], engine_when_missing: str | None) -> tuple[KvCacheSize, ...]:
    """Return the size for each engine that states one; of several statements the page's last counts.

    Blocks times tokens a block is wrong for models whose layers need different caches (Mamba, sliding windows), so
    that it is taken only where releases before 0.24 say nothing better.
    """
    found: dict[str, KvCacheSize] = {}
    for family in families:
        if family.name != _INFO:
            continue
        for _, _, sample in family.samples:
            labels = dict(sample.labels)
            engine = labels.get("engine") or engine_when_missing
            size = _size(engine, labels) if engine is not None else None
            if size is not None:
                found[size.engine] = size
    return tuple(found.values())


def _size(engine: str, labels: Mapping[str, str]) -> KvCacheSize | None:
    stated = _number(labels.get(_TOKENS))
    if stated is not None:
        return KvCacheSize(engine, stated, estimated=False)
    blocks, block = _number(labels.get("num_gpu_blocks")), _number(labels.get("block_size"))
    return None if blocks is None or block is None else KvCacheSize(engine, blocks * block, estimated=True)


def _number(text: str | None) -> int | None:
    usable = text is not None and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    return (int(text) or None) if usable and text is not None else None
