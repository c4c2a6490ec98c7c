"""Files that commands write by the settings: all of them or none, and never over what a person wrote."""

from collections.abc import Sequence
from pathlib import Path

from vllmwatch.config import Config
from vllmwatch.config.load import FILE_NAME
from vllmwatch.errors import VllmwatchError
from vllmwatch.render.artifacts import Difference, differences, foreign, write

_ELSEWHERE = "Choose another folder."


def settings_file(config: Config) -> str:
    """Return the file that settings belong in: the one that was read, else the one that would be."""
    return str(config.file or FILE_NAME)


def folder_of(option: str, text: str) -> Path:
    """Return the folder that an option names; raises VllmwatchError for an empty name, and for a file."""
    if not text.strip():
        raise VllmwatchError(f"{option}: the name of a folder is asked for, not an empty one", hint=_ELSEWHERE)
    if Path(text).is_file():
        raise VllmwatchError(f"{option}: {text} is a file; a folder is asked for", hint=_ELSEWHERE)
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
