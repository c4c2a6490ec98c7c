"""An answer of HTTP/1, read as it comes.

httptools (llhttp, the parser of Node.js) reads it at a fraction of the processor time of the standard library's client,
most of which goes into a parser of mail headers; docs/performance.md has the figures.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

# Of a head, or of whatever else that is no body, in a row.
_MOST_BYTES_WITHOUT_BODY = 1 << 16
_FIRST_FINAL_STATUS = 200


@dataclass(frozen=True, slots=True)
class Head:
    """The head of an answer. Names of fields are in lower case; values of one name are joined by ", "."""

    status: int
    reason: str
    fields: Mapping[str, str]


class Answer:
    """What has come of an answer so far; answers of one connection come one after the other.

    `keeps_open` says whether the connection can be used again, `fault` what is wrong with the rest of the answer.
    """

    def __init__(self) -> None:
        self._parser = HttpResponseParser(self)
        # What other clients take, too. The dangers are those of a proxy, whose next hop reads the same otherwise.
        self._parser.set_dangerous_leniencies(
            lenient_headers=True,
            lenient_chunked_length=True,
            lenient_optional_cr_before_lf=True,
            lenient_spaces_after_chunk_size=True,
        )
        self.begin()

    def begin(self) -> None:
        """Wait for the next answer."""
        self._status = 0
        self._reason = b""
        self._fields: dict[str, str] = {}
        self._pieces: list[bytes] = []
        self._bytes_without_body = 0
        self.head_ended = False
        self.ended = False
        self.keeps_open = False
        self.fault: str | None = None

    def head(self) -> Head:
        """Return the head, once it has ended."""
        return Head(self._status, self._reason.decode("latin-1"), self._fields)

    def take_pieces(self) -> list[bytes]:
        """Return the pieces of the body that have come since the last call."""
        pieces, self._pieces = self._pieces, []
        return pieces

    def feed(self, received: bytes) -> None:
        """Read on; what is wrong with what came becomes the `fault`, and what was right of it is kept."""
        self._bytes_without_body += len(received)
        try:
            self._parser.feed_data(received)
        except HttpParserUpgrade:
            self.fault = "the server switched to another protocol unasked"
        except HttpParserError as error:
            self.keeps_open = False
            self.fault = f"not an answer of HTTP/1: {error}"
        if self._bytes_without_body > _MOST_BYTES_WITHOUT_BODY:
            self.fault = f"{self._bytes_without_body} bytes came without a body"

    def feed_end(self) -> None:
        """Take note that the connection ended, which is the end of an answer that names no other."""
        named = "content-length" in self._fields or "chunked" in self._fields.get("transfer-encoding", "").lower()
        if self.head_ended and not named:
            self.ended = True
        else:
            self.fault = "the connection closed before the answer ended"

    def on_message_begin(self) -> None:
        """Called by httptools; more than one answer was not asked for."""
        if self.ended:
            self.keeps_open = False

    def on_status(self, reason: bytes) -> None:
        """Called by httptools."""
        if not self.ended:
            self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by httptools."""
        if self.head_ended:
            return  # trailing fields tell nothing that is of use here
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        self._fields[key] = f"{self._fields[key]}, {text}" if key in self._fields else text

    def on_headers_complete(self) -> None:
        """Called by httptools."""
        if self.head_ended:
            return
        self._status = self._parser.get_status_code()
        if self._status >= _FIRST_FINAL_STATUS:
            self.head_ended = True
        else:
            self._reason, self._fields = b"", {}

    def on_body(self, piece: bytes) -> None:
        """Called by httptools."""
        if not self.ended:
            self._bytes_without_body = 0
            self._pieces.append(piece)

    def on_message_complete(self) -> None:
        """Called by httptools."""
        if self.head_ended and not self.ended:
            self.ended = True
            self.keeps_open = self._parser.should_keep_alive()
