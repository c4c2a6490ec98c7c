"""The names of all alerts, told by their files, for those who need no more than the names.

The modules hold cases and runbooks, which are megabytes of memory to a process that only checks a setting.
"""

from pathlib import Path


def _name(module: Path) -> str:
    return "".join(word.capitalize() for word in module.stem.split("_"))


TEST_ALERT = "VllmwatchTest"
"""The alert that is only a test of the way; no rule has it."""
ALERT_NAMES: tuple[str, ...] = tuple(
    sorted(_name(module) for module in Path(__file__).with_name("alerts").glob("*/[!_]*.py"))
)
