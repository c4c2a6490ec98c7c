"""Which metric of the catalogue a family on a page is, whatever name its release gave it."""

from collections.abc import Iterable
from dataclasses import dataclass

from vllmwatch.spec.upstream import PARTS, Name, UpstreamKind, UpstreamMetric

_TOTAL = "_total"


@dataclass(frozen=True, slots=True)
class Known:
    """A family that the catalogue knows; `rank` is 0 for the canonical name, higher the older the name."""

    metric: UpstreamMetric
    rank: int


class NameBook:
    """The catalogue by name, with the prefixes that other systems put before vLLM's."""

    def __init__(self, metrics: Iterable[UpstreamMetric], prefixes: Iterable[str], canonical_prefix: str) -> None:
        self._canonical_prefix = canonical_prefix
        # The longest first, so that one prefix that begins another does not hide it.
        self._prefixes = sorted(prefixes, key=len, reverse=True)
        self._by_base: dict[str, list[tuple[Name, Known]]] = {}
        self._bases_of_parts: dict[str, str] = {}
        for metric in metrics:
            for rank, name in enumerate(metric.names):
                base = name.name
                if metric.kind is UpstreamKind.COUNTER:
                    base = base.removesuffix(_TOTAL)
                self._by_base.setdefault(base, []).append((name, Known(metric, rank)))
                for suffix in PARTS.get(metric.kind, ()):
                    self._bases_of_parts[base + suffix] = base

    def unprefixed(self, family: str) -> str:
        """Return a family's name with a foreign prefix replaced by vLLM's own.

        A prefix that ends in an underscore is taken for one only where a name of the catalogue follows.
        """
        for prefix in self._prefixes:
            if family.startswith(prefix):
                renamed = self._canonical_prefix + family[len(prefix) :]
                if prefix.endswith(":") or self._bases(renamed):
                    return renamed
        return family

    def is_vllm(self, unprefixed: str) -> bool:
        """Whether a name, prefix replaced, is one of vLLM's own and not of its HTTP front end or process."""
        return unprefixed.startswith(self._canonical_prefix)

    def find(self, unprefixed: str, kind: str, help_text: str) -> Known | None:
        """Return the metric that a family is, or None for one that the catalogue does not know.

        `kind` is the family's TYPE ("" or "untyped" where the page does not say). A family of another type than the
        metric's is not that metric.
        """
        for base in self._bases(unprefixed):
            for name, known in self._by_base[base]:
                says_so = not name.help_contains or name.help_contains in help_text
                if says_so and kind in {known.metric.kind, "", "untyped", "unknown"}:
                    return known
        return None

    def base_of_part(self, unprefixed: str) -> str | None:
        """Return the histogram or summary that has a series of this name, or None where none of the catalogue has."""
        return self._bases_of_parts.get(unprefixed)

    def declared_kind(self, unprefixed: str) -> UpstreamKind | None:
        """Return the type that the catalogue gives a name, whatever the page says of it."""
        return next((self._by_base[base][0][1].metric.kind for base in self._bases(unprefixed)), None)

    def _bases(self, name: str) -> list[str]:
        return [base for base in dict.fromkeys((name, name.removesuffix(_TOTAL))) if base in self._by_base]
