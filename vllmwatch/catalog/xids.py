"""What XID events mean and what mends them, by NVIDIA's catalogue (docs.nvidia.com/deploy/xid-errors, 2025).

Where sources disagree NVIDIA's own word holds. 45 follows each killed program, 43 each of a program's own faults, and
63 tells of a row that was replaced, which a series of its own says better: none of them is a fault. 144 to 150 may be
grave or harmless, as a code within the line of the kernel log says; the driver's recovery action tells which.
"""

from vllmwatch.spec.xid import CRITICAL, Remedy, XidClass

XID_CLASSES: tuple[XidClass, ...] = (
    XidClass("has fallen off the bus", Remedy.REBOOT, (79,)),
    XidClass("lost its encryption keys", Remedy.REBOOT, (151,)),
    XidClass("has no power on its cable", Remedy.REPAIR, (54,)),
    XidClass("met an error of memory that could not be mended", Remedy.RESET, (48, 95, 140)),
    XidClass("could not put bad memory out of use", Remedy.RESET, (64, 156)),
    XidClass("stopped working or did not stop when told", Remedy.RESET, (46, 109, 158)),
    XidClass("halted one of its own processors", Remedy.RESET, (62, 119, 120, 143)),
    XidClass("lost an NVLink", Remedy.RESET, (74, 136, 155)),
    XidClass("refused something for its own security", Remedy.RESET, (110,)),
    XidClass("met an error of a fifth-generation NVLink", Remedy.ASK_DRIVER, (144, 145, 146, 147, 148, 149, 150)),
    XidClass("could not read or write for a program", Remedy.RESTART, (13, 31, 32, 69)),
    XidClass("kept an error of memory within one program, which it ended", Remedy.RESTART, (94,)),
    XidClass(
        "refused a program's work",
        Remedy.RESTART,
        (
            *(8, 11, 25, 39, 40, 41, 60, 68, 70, 71, 72, 75, 76, 77, 80, 82, 83, 84, 85, 86, 88, 89),
            *range(96, 106),
            *range(126, 136),
            139,
        ),
    ),
    XidClass(
        "told something that is no fault",
        Remedy.NOTHING,
        (37, 38, 43, 44, 45, 63, 66, 67, 92, 93, 106, 107, 121, 137, 141, 152, 153, 154, 157, 160, 161),
    ),
)
CRITICAL_XIDS: tuple[int, ...] = tuple(
    sorted(number for each in XID_CLASSES if each.remedy in CRITICAL for number in each.numbers)
)
"""Events after which a GPU serves nobody until it is reset, or more."""
APPLICATION_XIDS: tuple[int, ...] = tuple(
    sorted(number for each in XID_CLASSES if each.remedy is Remedy.RESTART for number in each.numbers)
)
"""Events that end a program and leave the GPU sound."""
