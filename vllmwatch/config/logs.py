"""The logs that are to be followed, and where their positions are kept."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vllmwatch.sources.logs.origin import LogKind, LogOrigin, read_origin

LOG_KINDS: Mapping[str, LogKind] = {"log_files": LogKind.FILE, "log_units": LogKind.UNIT}


def read_logs(kind: LogKind, texts: Sequence[str], base: Path) -> tuple[LogOrigin, ...]:
    """Return the logs that a list names, paths from `base` on; raises ValueError for none, and for one named twice."""
    found = tuple(read_origin(kind, text) for text in texts)
    if kind is LogKind.FILE:
        found = tuple(replace(each, name=str(base / Path(each.name).expanduser())) for each in found)
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name} is named twice")
    return found


def state_file(port: int, environment: Mapping[str, str], home: Path, *, is_root: bool) -> Path:
    """Return where the exporter on a port keeps positions and counts of logs unless somebody says where.

    systemd names a folder for a service that asks for one; without it root has /var/lib, everybody else a home.
    """
    name = f"logs-{port}.json"
    given = environment.get("STATE_DIRECTORY", "").partition(":")[0]
    if given:
        return Path(given) / name
    if is_root:
        return Path("/var/lib/vllmwatch") / name
    return Path(environment.get("XDG_STATE_HOME") or home / ".local" / "state") / "vllmwatch" / name
