"""The layers of the house: imports point down, never sideways, and each library has one home."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "vllmwatch"

# From the top down. Parts in one row do not know each other.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"cli"}),
    frozenset({"stack", "doctor", "simulate", "terminal"}),
    frozenset({"exporter", "render", "plan", "sinks", "config"}),
    frozenset({"sources", "catalog"}),
    frozenset({"spec"}),
    frozenset({"errors"}),
)

# Which third-party library may be imported where.
LIBRARIES: dict[str, frozenset[str]] = {
    "cli": frozenset({"typer", "rich"}),
    "doctor": frozenset({"yaml"}),
    "simulate": frozenset({"fastapi", "uvicorn", "prometheus_client"}),
    "terminal": frozenset({"textual"}),
    "exporter": frozenset({"fastapi", "starlette", "uvicorn"}),
    "render": frozenset({"grafanalib", "yaml"}),
    "sinks": frozenset({"requests"}),
    "config": frozenset({"pydantic", "pydantic_settings", "yaml"}),
    "sources": frozenset({"pynvml", "httptools", "requests", "psutil", "yaml"}),
}

# `render` does not see `sources`: rules and boards render on a laptop without NVML.
FORBIDDEN: frozenset[tuple[str, str]] = frozenset({("render", "sources")})
# `config` is read by `cli` alone; everybody else gets values as arguments.
CONFIG_READERS: frozenset[str] = frozenset({"cli", "config"})

MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """Return the part of the house that a module belongs to ("" for the package's own files)."""
    relative = path.relative_to(PACKAGE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted name of each module that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            assert node.module is not None
            yield node.module
            if node.module == "vllmwatch":
                yield from (f"vllmwatch.{alias.name}" for alias in node.names)


def level_of(part: str) -> int | None:
    """Return the row of a part in the table, or None for the package's own files."""
    for level, parts in enumerate(LAYERS):
        if part in parts:
            return level
    return None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down_and_libraries_stay_home(path: Path) -> None:
    part = part_of(path)
    if part in {"__init__", "__main__"}:
        return
    level = level_of(part)
    assert level is not None, f"{part} is not in the table of layers"
    for name in imported(path):
        top, _, rest = name.partition(".")
        if top == "vllmwatch":
            other = rest.split(".")[0]
            if other in {"", "__version__", part}:
                continue
            other_level = level_of(other)
            assert other_level is not None, f"{name} is not in the table of layers"
            assert other_level > level, f"{part} imports {name}: imports point down, never sideways"
            assert (part, other) not in FORBIDDEN, f"{part} must not see {other}"
            assert other != "config" or part in CONFIG_READERS, f"{part} reads config"
        elif top not in sys.stdlib_module_names:
            assert top in LIBRARIES.get(part, frozenset()), f"{top} has no home in {part}"


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_modules_stay_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 350, "a module past 350 lines is two things"
