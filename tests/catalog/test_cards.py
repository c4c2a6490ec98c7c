"""Cards are known by NVML's product names; unknown ones, and parts of cards, are not."""

import pytest

from vllmwatch.catalog.cards import CARDS, card_of
from vllmwatch.catalog.joined import DATA_TYPE


@pytest.mark.parametrize(
    ("name", "bf16", "fp8", "memory_bandwidth"),
    [
        ("NVIDIA A100-SXM4-80GB", 312e12, None, 2.039e12),
        ("NVIDIA A100-PCIE-40GB", 312e12, None, 1.555e12),
        ("NVIDIA A100 80GB PCIe", 312e12, None, 1.935e12),
        ("NVIDIA H100 80GB HBM3", 989.5e12, 1979e12, 3.35e12),
        ("NVIDIA H100 PCIe", 756.5e12, 1513e12, 2.0e12),
        ("NVIDIA H100 NVL", 835.5e12, 1670.5e12, 3.9e12),
        ("NVIDIA H200", 989.5e12, 1979e12, 4.8e12),
        ("NVIDIA H200 NVL", 835.5e12, 1670.5e12, 4.8e12),
        ("NVIDIA B200", 2250e12, 4500e12, 8e12),
        ("NVIDIA L4", 121e12, 242.5e12, 0.3e12),
        ("NVIDIA L40S", 362.05e12, 733e12, 0.864e12),
        ("NVIDIA A10", 125e12, None, 0.6e12),
        ("NVIDIA GeForce RTX 4090", 165.2e12, 330.3e12, 1.008e12),
        ("NVIDIA RTX 6000 Ada Generation", 364.2e12, 728.5e12, 0.96e12),
    ],
)
def test_a_card_is_found_by_its_product_name(
    name: str, bf16: float, fp8: float | None, memory_bandwidth: float
) -> None:
    card = card_of(name)
    assert card is not None
    assert card.peak_flops.get("bf16") == pytest.approx(bf16)
    assert card.peak_flops.get("fp8") == (pytest.approx(fp8) if fp8 else None)
    assert card.memory_bandwidth == pytest.approx(memory_bandwidth)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "NVIDIA A10G",
        "NVIDIA A10-24Q",
        "NVIDIA L40SX",
        "NVIDIA GeForce RTX 4090D",
        "Quadro RTX 6000",
        "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
        "NVIDIA A100-SXM4-40GB MIG 3g.20gb",
    ],
)
def test_an_unknown_card_and_a_part_of_one_are_not_guessed(name: str) -> None:
    assert card_of(name) is None


def test_every_card_is_found_by_each_of_its_names_and_names_its_source() -> None:
    for card in CARDS:
        assert card.source
        assert card.peak_flops.keys() <= DATA_TYPE.values.keys()
        for name in card.names:
            assert card_of(f"NVIDIA {name}") is card


def test_fp8_is_about_twice_as_fast_as_bf16() -> None:
    for card in CARDS:
        if "fp8" in card.peak_flops:
            assert card.peak_flops["fp8"] / card.peak_flops["bf16"] == pytest.approx(2, rel=0.03)
