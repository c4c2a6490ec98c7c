"""The names of all alerts, told by their files, for those who need no more than the names.

The modules hold cases and runbooks, which are megabytes of memory to a process that only checks a setting.
"""

from collections.abc import Mapping
from pathlib import Path


def alert_name(slug: str) -> str:
    """Return the name of an alert by that of its page: gpu_lost is GpuLost's."""
    return "".join(word.capitalize() for word in slug.split("_"))


ALERT_FILES: Mapping[str, Path] = {
    module.stem: module for module in sorted(Path(__file__).with_name("alerts").glob("*/[!_]*.py"))
}
"""The module of each alert by the name of its page."""
TEST_ALERT = "VllmwatchTest"
"""The alert that is only a test of the way; no rule has it."""
ALERT_NAMES: tuple[str, ...] = tuple(sorted(map(alert_name, ALERT_FILES)))
