"""What is true of a card, and what cannot be."""

import pytest

from vllmwatch.sources.nvml import plausible

ONES_32 = 2**32 - 1
ONES_64 = 2**64 - 1


@pytest.mark.parametrize(
    ("milliwatts", "limit", "watts"),
    [
        (412_400, None, 412.4),
        (0, None, 0),
        (1_400_000, 700, 1400),
        (1_400_001, 700, None),
        (ONES_32, None, None),
        (ONES_32, 4_294_967.295, None),
        (-1, None, None),
        (None, 700, None),
    ],
)
def test_power(milliwatts: float | None, limit: float | None, watts: float | None) -> None:
    assert plausible.watts(milliwatts, limit) == watts


@pytest.mark.parametrize(("megahertz", "hertz"), [(1755, 1_755_000_000), (0, 0), (ONES_32, None), (None, None)])
def test_clocks(megahertz: int | None, hertz: int | None) -> None:
    assert plausible.hertz(megahertz) == hertz


@pytest.mark.parametrize(
    ("value", "count"), [(6.0, 6), (0, 0), (ONES_32, ONES_32), (-1, None), (ONES_64, None), (2**63 - 1, None)]
)
def test_counts(value: float, count: int | None) -> None:
    assert plausible.whole(value) == count


@pytest.mark.parametrize(("value", "size"), [(81_559 << 20, 81_559 << 20), (0, 0), (ONES_64, None), (2**63 - 1, None)])
def test_amounts_of_memory(value: int, size: int | None) -> None:
    assert plausible.size_bytes(value) == size
