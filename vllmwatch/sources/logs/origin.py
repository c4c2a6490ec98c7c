"""Which logs are to be followed, and whose they are: `SERVER=PATH`, or a path alone."""

from dataclasses import dataclass
from enum import StrEnum


class LogKind(StrEnum):
    """What is followed."""

    FILE = "file"
    UNIT = "unit"


@dataclass(frozen=True, slots=True)
class LogOrigin:
    """A log: a file (a pattern is allowed) or a unit of systemd, by `name`; `server` is empty where nobody said."""

    kind: LogKind
    name: str
    server: str = ""


def read_origin(kind: LogKind, text: str) -> LogOrigin:
    """Return what a text such as `gpu1:8000=/var/log/vllm.log` means; raises ValueError where the name is missing."""
    server, sign, name = text.partition("=")
    if not sign or "/" in server:
        server, name = "", text
    if not name:
        raise ValueError(f"{text!r}: SERVER={kind.upper()} or {kind.upper()} is expected")
    return LogOrigin(kind, name, server)
