"""The kernel log as a source of XID events: those since boot, each once, and those to come.

/dev/kmsg gives one record a read, `priority,sequence,microseconds,flags;text`, from the oldest that the kernel keeps.
The clock of its records runs apart from the system's by seconds over a long uptime, so a record that comes while we
listen has the time at which it came; those from before have the time that their stamp gives.

A line that says that a GPU has fallen off the bus and carries no code counts as XID 79, unless a 79 of that GPU is
known from within the hour: some failures print the sentence alone.
"""

import logging
import os
import re
import select
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vllmwatch.sources.xid import FALLEN_OFF_BUS, XidLedger, XidSource

DEFAULT_PATH = "/dev/kmsg"
_RECORD_BYTES = 16384  # the kernel's records are at most 8 KiB; a shorter buffer would be refused
_POLL_SECONDS = 0.5
_REOPEN_SECONDS = 60.0

_log = logging.getLogger(__name__)

_ADDRESS = r"(?:PCI:)?([0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-7])?)"
_XID = re.compile(rf"NVRM: Xid \({_ADDRESS}[^)]*\): *(\d+)\b")
_OFF_BUS = re.compile(rf"NVRM: (?:The NVIDIA )?GPU (?:at )?{_ADDRESS}:?[\s\S]*?fallen off the bus")
_OFF_BUS_BEGINS = re.compile(rf"NVRM: The NVIDIA GPU {_ADDRESS}\s*$")
_OFF_BUS_ENDS = re.compile(r"NVRM: *(?:has )?fallen off the bus")
_IDENTITY = re.compile(rf"NVRM: GPU at {_ADDRESS}: (GPU-[0-9a-fA-F-]{{36}})")
_RECORD = re.compile(r"\d+,(\d+),(\d+),[^;]*;")
_ESCAPE = re.compile(r"\\x([0-9a-fA-F]{2})")


@dataclass(frozen=True, slots=True)
class KernelXid:
    """An event of the kernel log: the PCI address as printed, and the code, or None where the line has none."""

    pci_bus_id: str
    xid: int | None


@dataclass(frozen=True, slots=True)
class KernelIdentity:
    """A line that says which GPU sits at a PCI address."""

    pci_bus_id: str
    uuid: str


class LineReader:
    """Finds events in the texts of records, one after the other; one kind of event is spread over three records."""

    def __init__(self) -> None:
        self._begun: str | None = None

    def read(self, text: str) -> KernelXid | KernelIdentity | None:
        """Return what a record says of a GPU, or None."""
        if "NVRM" not in text:
            return None
        if match := _XID.search(text):
            return KernelXid(match[1], int(match[2]))
        if match := _IDENTITY.search(text):
            return KernelIdentity(match[1], match[2])
        if match := _OFF_BUS.search(text):
            self._begun = None
            return KernelXid(match[1], None)
        if match := _OFF_BUS_BEGINS.search(text):
            self._begun = match[1]
        elif self._begun is not None and _OFF_BUS_ENDS.search(text):
            begun, self._begun = self._begun, None
            return KernelXid(begun, None)
        return None


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """One record: its sequence number since boot, its time in seconds since boot, and its text."""

    sequence: int
    seconds: float
    text: str


def parse_record(record: str) -> KernelRecord | None:
    """Return the parts of a record, or None when it has no prefix (the lines of its dictionary have none)."""
    match = _RECORD.match(record)
    if match is None:
        return None
    text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), record[match.end() :])
    return KernelRecord(int(match[1]), int(match[2]) / 1e6, text)


class KernelLog:
    """Follows the kernel log in a thread of its own and tells the ledger; a log that cannot be read is a state."""

    def __init__(
        self,
        ledger: XidLedger,
        *,
        path: str = DEFAULT_PATH,
        boot_time: Callable[[], float] = lambda: time.time() - time.monotonic(),
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._ledger = ledger
        self._path = path
        self._boot_time = boot_time
        self._wall = wall
        self._lines = LineReader()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="kernel-log", daemon=True)
        self._told = False
        self._last_sequence = -1
        self._caught_up = False

    def start(self) -> None:
        """Begin to read, from the oldest record that the kernel keeps."""
        self._thread.start()

    def close(self) -> None:
        """Stop reading and wait for the thread to end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except OSError as error:
                if not self._told:
                    _log.info("the kernel log %s cannot be read (%s): XIDs come from NVML alone", self._path, error)
                    self._told = True
                self._ledger.set_listening(XidSource.KERNEL_LOG, listening=False)
                self._stop.wait(_REOPEN_SECONDS)

    def _follow(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self._ledger.set_listening(XidSource.KERNEL_LOG, listening=True)
            for record in self._records(descriptor):
                self._tell(record)
        finally:
            os.close(descriptor)

    def _records(self, descriptor: int) -> Iterator[str]:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        rest = ""
        self._caught_up = False
        while not self._stop.is_set():
            try:
                data = os.read(descriptor, _RECORD_BYTES)
            except BlockingIOError:
                self._caught_up = True
                poll.poll(_POLL_SECONDS * 1000)
                continue
            except BrokenPipeError:  # records were overwritten before they were read: the next read goes on
                continue
            if not data:  # the end of a plain file, or a pipe whose writer is away
                self._caught_up = True
                self._stop.wait(_POLL_SECONDS)
                continue
            *lines, rest = (rest + data.decode("utf-8", "replace")).split("\n")
            rest = rest[:_RECORD_BYTES]
            yield from lines

    def _tell(self, text: str) -> None:
        record = parse_record(text)
        if record is None or record.sequence <= self._last_sequence:  # seen before the log was opened again
            return
        self._last_sequence = record.sequence
        found = self._lines.read(record.text)
        if isinstance(found, KernelIdentity):
            self._ledger.learn(found.uuid, found.pci_bus_id)
        elif found is not None:
            source = XidSource.KERNEL_LOG if found.xid is not None else XidSource.KERNEL_LOG_WITHOUT_CODE
            xid = FALLEN_OFF_BUS if found.xid is None else found.xid
            seconds = self._wall() if self._caught_up else self._boot_time() + record.seconds
            self._ledger.record(found.pci_bus_id, xid, seconds, source)
