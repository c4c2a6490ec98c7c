"""Where a file was read to, so that the same file is known again after a rotation or a restart."""

import hashlib
import os
from dataclasses import dataclass

FINGERPRINT_BYTES = 256


@dataclass(frozen=True, slots=True)
class Position:
    """How far a file was read: `offset` bytes, all of them whole lines.

    The file is known again by device and inode, and by a hash of its first `fingerprint_bytes` bytes, since an inode is
    given to another file once nobody has it any more, and a file that was emptied may have grown again.
    """

    device: int
    inode: int
    offset: int
    fingerprint: str
    fingerprint_bytes: int

    def is_of(self, descriptor: int) -> bool:
        """Tell whether an open file is the one that was read, not emptied since."""
        found = os.fstat(descriptor)
        return (
            (found.st_dev, found.st_ino) == (self.device, self.inode)
            and found.st_size >= self.offset
            and fingerprint(descriptor, self.fingerprint_bytes) == self.fingerprint
        )


def fingerprint(descriptor: int, size: int) -> str:
    """Return a hash of the first `size` bytes of an open file, or of those that it has."""
    return hashlib.sha256(os.pread(descriptor, size, 0)).hexdigest()


def position_of(descriptor: int, offset: int) -> Position:
    """Return the position of an open file that was read to `offset`."""
    found = os.fstat(descriptor)
    size = min(offset, FINGERPRINT_BYTES)
    return Position(found.st_dev, found.st_ino, offset, fingerprint(descriptor, size), size)
