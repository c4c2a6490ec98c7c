"""What cards can do at most: dense matrix products, and the bandwidth of their memory, by product name.

Figures are those of NVIDIA's datasheet that `source` names, without sparsity: where a sheet states the sparse figure
alone, half of it. The product of a bf16 (or fp16) matrix multiplication with fp32 accumulation is meant, and fp8 alike.
"""

from collections.abc import Mapping
from dataclasses import dataclass

_TERA = 1e12
_VENDOR = "NVIDIA "
# A MIG instance, or a virtual GPU, has a part of the card that its name begins with.
_PART_OF_A_CARD = " MIG "


@dataclass(frozen=True, slots=True)
class Card:
    """A card: `names` are NVML's product names without the vendor.

    `peak_flops` is in floating-point operations a second by data type (`bf16`; `fp8` where the card has it),
    `memory_bandwidth` in bytes a second.
    """

    names: tuple[str, ...]
    peak_flops: Mapping[str, float]
    memory_bandwidth: float
    source: str


def _card(*names: str, bf16: float, fp8: float | None, terabytes_per_second: float, source: str) -> Card:
    peaks = {"bf16": bf16 * _TERA} | ({"fp8": fp8 * _TERA} if fp8 is not None else {})
    return Card(names, peaks, terabytes_per_second * _TERA, source)


_A100 = "A100 Tensor Core GPU datasheet"
_H100 = "H100 Tensor Core GPU datasheet"
_H200 = "H200 Tensor Core GPU datasheet"
_PRO = "RTX PRO 6000 Blackwell datasheet"

CARDS: tuple[Card, ...] = (
    _card(
        *("A100-SXM4-40GB", "A100-PCIE-40GB"),
        bf16=312.0,
        fp8=None,
        terabytes_per_second=1.555,
        source=_A100,
    ),
    _card("A100-SXM4-80GB", bf16=312.0, fp8=None, terabytes_per_second=2.039, source=_A100),
    _card("A100 80GB PCIe", bf16=312.0, fp8=None, terabytes_per_second=1.935, source=_A100),
    _card("A10", bf16=125.0, fp8=None, terabytes_per_second=0.6, source="A10 Tensor Core GPU datasheet"),
    _card("A30", bf16=165.0, fp8=None, terabytes_per_second=0.933, source="A30 Tensor Core GPU datasheet"),
    _card("A40", bf16=149.7, fp8=None, terabytes_per_second=0.696, source="A40 datasheet"),
    _card("H100 80GB HBM3", bf16=989.5, fp8=1979.0, terabytes_per_second=3.35, source=_H100),
    _card("H100 PCIe", bf16=756.5, fp8=1513.0, terabytes_per_second=2.0, source=_H100),
    _card("H100 NVL", bf16=835.5, fp8=1670.5, terabytes_per_second=3.9, source=_H100),
    _card("H200", bf16=989.5, fp8=1979.0, terabytes_per_second=4.8, source=_H200),
    _card("H200 NVL", bf16=835.5, fp8=1670.5, terabytes_per_second=4.8, source=_H200),
    _card("B200", bf16=2250.0, fp8=4500.0, terabytes_per_second=8.0, source="DGX B200 datasheet, an eighth of it"),
    _card("L4", bf16=121.0, fp8=242.5, terabytes_per_second=0.3, source="L4 Tensor Core GPU datasheet"),
    _card("L40", bf16=181.05, fp8=362.0, terabytes_per_second=0.864, source="L40 GPU datasheet"),
    _card("L40S", bf16=362.05, fp8=733.0, terabytes_per_second=0.864, source="L40S GPU datasheet"),
    _card(
        "GeForce RTX 4090",
        bf16=165.2,
        fp8=330.3,
        terabytes_per_second=1.008,
        source="Ada GPU architecture whitepaper",
    ),
    _card(
        "RTX 6000 Ada Generation",
        bf16=364.2,
        fp8=728.5,
        terabytes_per_second=0.96,
        source="RTX 6000 Ada Generation datasheet",
    ),
    _card(
        *("RTX PRO 6000 Blackwell Workstation Edition",),
        bf16=500.0,
        fp8=1000.0,
        terabytes_per_second=1.792,
        source=f"{_PRO} (Workstation Edition): an eighth and a quarter of its sparse fp4 figure",
    ),
    _card(
        *("RTX PRO 6000 Blackwell Server Edition",),
        bf16=500.0,
        fp8=1000.0,
        terabytes_per_second=1.597,
        source=f"{_PRO} (Server Edition)",
    ),
)


def card_of(name: str) -> Card | None:
    """Return the card with NVML's product name, the longest that fits; None for an unknown card and a part of one."""
    product = name.removeprefix(_VENDOR)
    if _PART_OF_A_CARD in product:
        return None
    fitting = [
        (len(known), card)
        for card in CARDS
        for known in card.names
        if product == known or product.startswith(f"{known} ")
    ]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None
