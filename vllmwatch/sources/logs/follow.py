"""A file followed as it is written: renamed, emptied, deleted and made anew, and never read twice.

A file that is renamed is read to its end before the one that takes its name. A file that was emptied, or copied and
emptied, is told by its size, or by its first bytes where it has grown again. A pipe is read while it has something.
"""

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from vllmwatch.sources.logs.lines import LineSplitter
from vllmwatch.sources.logs.positions import Position, position_of

READ_BYTES = 256 * 1024
# Of a folder, so many files at most are looked at for one that was renamed.
_MOST_SIBLINGS = 1000


@dataclass(frozen=True, slots=True)
class Read:
    """What a look at a file gave: its new lines, and whether there may be more at once."""

    lines: Sequence[str]
    more: bool


_NOTHING = Read((), more=False)


class FileFollower:
    """Follows the file at `path`.

    `position` is where it was read to before, if it ever was. Without one a file that is there is followed from its
    end when `from_end`, and from its beginning otherwise; one that comes later is read from its beginning.
    """

    def __init__(self, path: Path, position: Position | None = None, *, from_end: bool = False) -> None:
        self.path = path
        self.problem = ""
        self._position = position
        self._from_end = from_end
        self._descriptor: int | None = None
        self._is_pipe = False
        self._offset = 0
        self._splitter = LineSplitter()
        self._quiet_since_renamed = False
        self._seen = (0, 0)
        self._end: Position | None = None

    @property
    def position(self) -> Position | None:
        """Where the file was read to, in whole lines; None where nothing can be said of it."""
        if self._descriptor is None:
            return self._position
        if self._is_pipe:
            return None
        return position_of(self._descriptor, self._offset - self._splitter.pending)

    @property
    def identity(self) -> tuple[int, int] | None:
        """Device and inode of the file that is open."""
        if self._descriptor is None:
            return None
        found = os.fstat(self._descriptor)
        return found.st_dev, found.st_ino

    def read(self) -> Read:
        """Read on by at most `READ_BYTES`; never waits. What keeps it from reading is then in `problem`."""
        try:
            if self._descriptor is None and not self._open():
                return _NOTHING
            return self._read_on()
        except OSError as error:
            self.problem = (error.strerror or str(error)).lower()
            self._from_end = False
            self._close()
            return _NOTHING

    def close(self) -> None:
        """Let the file go; what was read so far stays known."""
        self._close()

    def _open(self) -> bool:
        descriptor = self._renamed() if self._position is not None else None
        if descriptor is None:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            self._begin(descriptor)
        except OSError:
            os.close(descriptor)
            raise
        return True

    def _begin(self, descriptor: int) -> None:
        found = os.fstat(descriptor)
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        self._is_pipe = not stat.S_ISREG(found.st_mode)
        if not self._is_pipe:
            if self._position is not None and self._position.is_of(descriptor):
                self._offset = self._position.offset
            else:
                self._offset = found.st_size if self._from_end and self._position is None else 0
            os.lseek(descriptor, self._offset, os.SEEK_SET)
        self._from_end = False
        self._splitter = LineSplitter()
        self._end = None
        self._descriptor = descriptor
        self._quiet_since_renamed = False
        self.problem = ""

    def _renamed(self) -> int | None:
        """Open the file that was read before, where it has another name by now; None where there is none."""
        position = self._position
        assert position is not None
        with os.scandir(self.path.parent) as folder:
            siblings = list(islice(folder, _MOST_SIBLINGS))
        for entry in siblings:
            if not entry.name.startswith(self.path.name) or entry.inode() != position.inode:
                continue
            try:
                descriptor = os.open(entry.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            except OSError:
                continue
            if position.is_of(descriptor):
                return descriptor
            os.close(descriptor)
        return None

    def _read_on(self) -> Read:
        assert self._descriptor is not None
        if self._is_pipe:
            return self._read_pipe(self._descriptor)
        if self._was_emptied(self._descriptor):
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            self._offset, self._splitter, self._end = 0, LineSplitter(), None
        data = os.read(self._descriptor, READ_BYTES)
        self._offset += len(data)
        if data:
            self._quiet_since_renamed = False
            return Read(self._splitter.split(data), more=True)
        return self._at_end(self._descriptor)

    def _read_pipe(self, descriptor: int) -> Read:
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:  # a writer has it open and has nothing to say
            return _NOTHING
        return Read(self._splitter.split(data), more=bool(data))

    def _was_emptied(self, descriptor: int) -> bool:
        found = os.fstat(descriptor)
        if found.st_size < self._offset:
            return True
        seen, self._seen = self._seen, (found.st_size, found.st_mtime_ns)
        # A file that was emptied and has grown to where it was read to, or beyond, begins with other bytes.
        return self._seen != seen and self._end is not None and not self._end.is_of(descriptor)

    def _at_end(self, descriptor: int) -> Read:
        """Look whether the name belongs to another file by now; what was renamed is left once it has been quiet."""
        self._end = position_of(descriptor, self._offset)
        try:
            found = self.path.stat()
            there = (found.st_dev, found.st_ino)
        except FileNotFoundError:
            there = None
        if there == self.identity:
            self._quiet_since_renamed = False
            return _NOTHING
        if not self._quiet_since_renamed:  # its writer may have written between our two looks
            self._quiet_since_renamed = True
            return Read((), more=True)
        lines = self._splitter.finish()
        self._close(known=False)
        if there is None:
            self.problem = os.strerror(errno.ENOENT).lower()
        return Read(lines, more=there is not None)

    def _close(self, *, known: bool = True) -> None:
        if self._descriptor is None:
            return
        try:
            if known and not self._is_pipe:
                self._position = position_of(self._descriptor, self._offset - self._splitter.pending)
        except OSError:
            pass
        os.close(self._descriptor)
        self._descriptor = None
        if not known:
            self._position = None
        self._from_end = False
