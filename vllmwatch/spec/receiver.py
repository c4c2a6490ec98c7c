"""Who is told: a kind of receiver with the keys that it takes, and one receiver of a kind."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Value(StrEnum):
    """What the value of a receiver's key is."""

    TEXT = "a text"
    URL = "an address such as https://host/path, without user and password"
    HOST_AND_PORT = "a host and a port such as mail.example:587"
    SECRET_FILE = "the path of a file with a secret"  # noqa: S105  a kind of value
    NUMBER = "a whole number (64 bits, not 0)"


@dataclass(frozen=True, slots=True)
class ReceiverKey:
    """A key of a receiver: what it holds, whether it must be there, and one sentence of what it is."""

    key: str
    value: Value
    help: str
    required: bool = True


@dataclass(frozen=True, slots=True)
class ReceiverKind:
    """A kind of receiver: `word` is what the setting calls it, `section` what Alertmanager does.

    Secrets are files alone, so that no configuration holds one. `one_of` are keys of which one must be there.
    """

    word: str
    section: str
    help: str
    keys: tuple[ReceiverKey, ...]
    one_of: tuple[str, ...] = ()

    @property
    def integration(self) -> str:
        """What Alertmanager calls it where it counts messages."""
        return self.section.removesuffix("_configs")

    def __post_init__(self) -> None:
        names = [key.key for key in self.keys]
        if len(set(names)) < len(names) or not set(self.one_of) <= set(names):
            raise ValueError(f"receiver {self.word}: its keys are named once, and those of one_of are among them")
        for key in self.keys:
            if (key.value is Value.SECRET_FILE) != key.key.endswith("_file"):
                raise ValueError(f"receiver {self.word}: keys of files, and only they, end in _file")


@dataclass(frozen=True, slots=True)
class Receiver:
    """One receiver by its name, with the values of its kind's keys."""

    name: str
    kind: ReceiverKind
    values: Mapping[str, str | int]

    @property
    def secret_files(self) -> tuple[str, ...]:
        """The paths of its files with secrets."""
        secret = [key.key for key in self.kind.keys if key.value is Value.SECRET_FILE]
        return tuple(str(self.values[key]) for key in secret if key in self.values)


@dataclass(frozen=True, slots=True)
class QuietHours:
    """When tickets wait: from `start` to `end` (24-hour clock, may cross midnight) in a time zone."""

    start: str
    end: str
    time_zone: str


@dataclass(frozen=True, slots=True)
class Team:
    """Who is told of a team's pages and tickets, by the names of receivers."""

    name: str
    pages: tuple[str, ...]
    tickets: tuple[str, ...]
