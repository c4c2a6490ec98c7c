"""The body of an answer: its compression undone within bounds, its charset made UTF-8."""

import zlib

from vllmwatch.sources.vllm.refused import RefusedError
from vllmwatch.spec.reason import Reason

_PLAIN_ENCODINGS = frozenset({"", "identity"})
_ZIPPED_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
# 32 + 15: zlib finds out by itself whether the stream is gzip or zlib.
_EITHER_ZIP = 47


class Plain:
    """A body that is not compressed."""

    ended = True

    @staticmethod
    def unpack(chunk: bytes) -> bytes:
        """Return a piece as it is."""
        return chunk


class Zipped:
    """A body in gzip (of one or more members) or zlib; never gives back much more than the limit at a time."""

    def __init__(self, most_bytes: int) -> None:
        self._unzip = zlib.decompressobj(_EITHER_ZIP)
        self._most_bytes = most_bytes

    @property
    def ended(self) -> bool:
        """Whether the compressed stream had its end."""
        return self._unzip.eof

    def unpack(self, chunk: bytes) -> bytes:
        """Return what a piece unpacks to. Raises RefusedError where it is broken."""
        unpacked = b""
        try:
            while chunk and len(unpacked) <= self._most_bytes:
                if self._unzip.eof:
                    self._unzip = zlib.decompressobj(_EITHER_ZIP)
                unpacked += self._unzip.decompress(chunk, self._most_bytes + 1)
                chunk = self._unzip.unused_data
        except zlib.error as error:
            raise RefusedError(Reason.ENCODING, f"the compressed body is broken: {error}") from error
        return unpacked


def unpacker(encoding: str, most_bytes: int) -> Plain | Zipped:
    """Return what undoes a Content-Encoding. Raises RefusedError for one that was not asked for."""
    encoding = encoding.strip().lower()
    if encoding in _PLAIN_ENCODINGS:
        return Plain()
    if encoding not in _ZIPPED_ENCODINGS:
        raise RefusedError(Reason.ENCODING, f"Content-Encoding {encoding!r} was not asked for")
    return Zipped(most_bytes)


def as_utf8(body: bytes, content_type: str) -> bytes:
    """Return the body in UTF-8 where it is not, and says in what else it is."""
    _, _, charset = content_type.partition("charset=")
    charset = charset.split(";")[0].strip().strip('"')
    if charset in {"", "utf-8", "utf8", "us-ascii"}:
        return body
    try:
        return body.decode(charset).encode()
    except (LookupError, UnicodeError):
        return body


def is_openmetrics(body: bytes, content_type: str) -> bool:
    """Whether a page is in OpenMetrics: it says so, or says nothing and has the end mark that only OpenMetrics has."""
    if "openmetrics-text" in content_type:
        return True
    return not content_type and body.rstrip().endswith(b"\n# EOF")
