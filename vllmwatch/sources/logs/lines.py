"""Bytes to lines: whole ones alone, none longer than what a reader looks at."""

LONGEST_LINE_BYTES = 256 * 1024


class LineSplitter:
    """Cuts bytes into lines as they come; `pending` bytes wait for the end of their line."""

    def __init__(self) -> None:
        self._rest = b""
        self.pending = 0

    def split(self, data: bytes) -> list[str]:
        """Return the lines that end in these bytes, without their newlines; of one that is too long, the beginning."""
        *ended, rest = data.split(b"\n")
        if ended:
            ended[0] = self._rest + ended[0]
            self._rest, self.pending = b"", 0
        self._rest += rest[: max(LONGEST_LINE_BYTES - len(self._rest), 0)]
        self.pending += len(rest)
        return [line[:LONGEST_LINE_BYTES].decode("utf-8", "replace") for line in ended]

    def finish(self) -> list[str]:
        """Return the line that has no end, if there is one: nothing follows any more."""
        rest, self._rest, self.pending = self._rest, b"", 0
        return [rest.decode("utf-8", "replace")] if rest else []
