"""A value as somebody gave it, and where they gave it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Given:
    """A raw value.

    `where` is its place as people know it (`vllmwatch.yml:3`, `VLLMWATCH_LISTEN`, `--listen`); `textual` says that it
    comes from a place that holds nothing but text (environment, command line). `lines` gives, for a value from a
    file, the line of each part by its path below the key.
    """

    value: object
    where: str
    textual: bool
    file: str | None = None
    lines: dict[tuple[str | int, ...], int] | None = None

    def place(self, *path: str | int) -> str:
        """Return where a part of the value stands, as exactly as it is known."""
        if self.file is None or self.lines is None:
            return self.where
        known = next((path[:n] for n in range(len(path), -1, -1) if path[:n] in self.lines), None)
        return self.where if known is None else f"{self.file}:{self.lines[known]}"


@dataclass(frozen=True, slots=True)
class Held:
    """A value in force, and where it came from."""

    value: object
    origin: str
    given: Given | None = None

    @property
    def number(self) -> float:
        """The value of a setting that is a number."""
        if not isinstance(self.value, int | float):
            raise TypeError(f"{self.origin}: not a number")
        return self.value


class FaultsError(ValueError):
    """Several faults of one value, each a whole line."""

    def __init__(self, *faults: str) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults
