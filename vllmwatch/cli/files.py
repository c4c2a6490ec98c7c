"""Files that commands write by the settings: all of them or none, and never over what a person wrote."""

from collections.abc import Sequence
from pathlib import Path

from vllmwatch.errors import VllmwatchError
from vllmwatch.render.artifacts import Difference, differences, foreign, write

_ELSEWHERE = "Choose another folder."


def folder_of(option: str, text: str) -> Path:
    """Return the folder that an option names; raises VllmwatchError for an empty name."""
    if not text.strip():
        raise VllmwatchError(f"{option}: the name of a folder is asked for, not an empty one", hint=_ELSEWHERE)
    return Path(text)


def compared(folder: Path, texts: dict[str, bytes], folders: Sequence[str]) -> list[Difference]:
    """Return what is not as it should be; what a person put beside it in `folders` is theirs."""
    try:
        found = differences(folder, texts, folders=folders)
        theirs = foreign(folder, [each.path for each in found])
    except OSError as error:
        raise _unusable(folder, error) from None
    return [each for each in found if each.path in texts or each.path not in theirs]


def written(folder: Path, texts: dict[str, bytes], folders: Sequence[str]) -> list[Difference]:
    """Write what differs, all of it or, where a person's file is in the way, nothing; return what was written."""
    try:
        found = differences(folder, texts, folders=folders)
        if theirs := foreign(folder, [each.path for each in found if each.path in texts]):
            raise VllmwatchError(
                f"{', '.join(str(folder / path) for path in theirs)}: "
                "not written by vllmwatch, and would be overwritten",
                hint=f"Move it away, or take what you need of it into your settings. {_ELSEWHERE}",
            )
        return list(write(folder, texts, folders=folders))
    except OSError as error:
        raise _unusable(folder, error) from None


def _unusable(folder: Path, error: OSError) -> VllmwatchError:
    return VllmwatchError(f"{error.filename or folder}: cannot be written: {error.strerror}", hint=_ELSEWHERE)
