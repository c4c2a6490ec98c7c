"""Each XID event is of one class; those that page are those that a restart of the program does not mend."""

from collections import Counter

import pytest

from vllmwatch.catalog.xids import APPLICATION_XIDS, CRITICAL_XIDS, XID_CLASSES
from vllmwatch.spec.xid import Remedy, XidClass

REMEDY = {number: each.remedy for each in XID_CLASSES for number in each.numbers}


def test_no_event_is_of_two_classes() -> None:
    counts = Counter(number for each in XID_CLASSES for number in each.numbers)
    assert [number for number, count in counts.items() if count > 1] == []


def test_events_that_come_with_a_killed_program_or_a_replaced_row_tell_nobody() -> None:
    told = {*CRITICAL_XIDS, *APPLICATION_XIDS}
    assert {43, 45, 63, 154} & told == set()
    assert {144, 150} & told == set(), "the driver's recovery action decides"


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (79, Remedy.REBOOT),
        (48, Remedy.RESET),
        (95, Remedy.RESET),
        (119, Remedy.RESET),
        (74, Remedy.RESET),
        (54, Remedy.REPAIR),
        (31, Remedy.RESTART),
        (94, Remedy.RESTART),
        (145, Remedy.ASK_DRIVER),
        (45, Remedy.NOTHING),
    ],
)
def test_the_remedy_is_that_of_nvidias_catalogue(number: int, remedy: Remedy) -> None:
    assert REMEDY[number] is remedy


def test_a_page_is_of_what_asks_for_more_than_a_restart() -> None:
    assert {REMEDY[number] for number in CRITICAL_XIDS} == {Remedy.RESET, Remedy.REBOOT, Remedy.REPAIR}
    assert {REMEDY[number] for number in APPLICATION_XIDS} == {Remedy.RESTART}
    assert set(CRITICAL_XIDS).isdisjoint(APPLICATION_XIDS)


@pytest.mark.parametrize("numbers", [(), (3, 2), (2, 2)])
def test_numbers_out_of_order_are_refused(numbers: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="in order, each once"):
        XidClass("met a fault", Remedy.RESET, numbers)
