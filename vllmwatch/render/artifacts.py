"""The generated files of a checkout: what is written where, and whether it is up to date."""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vllmwatch.catalog.alerts import ALERTS, RUNBOOKS, THEMES
from vllmwatch.catalog.boards import BOARDS
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.catalog.recordings import RECORDINGS
from vllmwatch.catalog.recordings.stories import STORIES
from vllmwatch.catalog.recordings.stories.worked_example import WORKED_EXAMPLE
from vllmwatch.render import mark
from vllmwatch.render.alert_cases import alert_case_path, render_alert_cases
from vllmwatch.render.alert_rules import AlertSettings, alert_rule_path, render_alert_rules
from vllmwatch.render.alloy import ALLOY_PATH, render_alloy
from vllmwatch.render.board_pictures import picture_path, render_boards_page, render_picture
from vllmwatch.render.command_page import CommandHelp, render_command_page
from vllmwatch.render.config_file import render_config_file
from vllmwatch.render.grafana import board_path, render_board
from vllmwatch.render.grafana.settings import BoardSettings
from vllmwatch.render.log_settings import COMPOSE
from vllmwatch.render.loglines_page import render_loglines_page
from vllmwatch.render.loki import LOKI_PATH, render_loki
from vllmwatch.render.loki_rules import loki_rule_files, loki_rule_path
from vllmwatch.render.metrics_page import render_metrics_page
from vllmwatch.render.otel import EXAMPLE, OTEL_PATH, render_otel
from vllmwatch.render.promtool import leaned_on, render_stories, story_path
from vllmwatch.render.recordings_page import render_recordings_page
from vllmwatch.render.rules import render_rules, rule_path
from vllmwatch.render.runbooks import render_runbook, render_runbook_index, runbook_path
from vllmwatch.render.settings_page import render_settings_page

# Folders that hold generated files alone: any other file in them is left over.
GENERATED_FOLDERS: tuple[str, ...] = ("alerts/loki", "alerts/rules", "alerts/tests", "dashboards", "docs/reference")
_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Artifact:
    """A generated file: its path in the checkout, with forward slashes, and the function that makes its text."""

    path: str
    render: Callable[[], str]


@dataclass(frozen=True, slots=True)
class Difference:
    """A generated file that is not as it should be; `what` is "missing", "differs" or "left over"."""

    path: str
    what: str


def artifacts(commands: Sequence[CommandHelp]) -> tuple[Artifact, ...]:
    """Return all generated files in the order of their paths; `commands` are for the page of the commands."""
    found = (
        *(Artifact(path, render) for path, render in (_recordings() | _alerts()).items()),
        *_boards(),
        Artifact(ALLOY_PATH, partial(render_alloy, LOG_CATALOG, COMPOSE)),
        Artifact(LOKI_PATH, partial(render_loki, COMPOSE)),
        Artifact(OTEL_PATH, partial(render_otel, LOG_CATALOG, EXAMPLE)),
        Artifact("docs/reference/cli.md", partial(render_command_page, commands)),
        Artifact("docs/reference/loglines.md", partial(render_loglines_page, LOG_CATALOG)),
        Artifact("docs/reference/metrics.md", render_metrics_page),
        Artifact("docs/reference/recordings.md", partial(render_recordings_page, RECORDINGS)),
        Artifact("docs/reference/settings.md", render_settings_page),
        Artifact("docs/reference/vllmwatch.example.yml", lambda: mark.comment(render_config_file())),
    )
    return tuple(sorted(found, key=lambda artifact: artifact.path))


def _recordings() -> dict[str, Callable[[], str]]:
    """Return what renders each file of the recordings: the rules of each group, its stories, the worked example."""
    files: dict[str, Callable[[], str]] = {
        story_path("worked_example"): partial(render_stories, RECORDINGS, (WORKED_EXAMPLE,))
    }
    for group in RECORDINGS:
        files[rule_path(group)] = partial(render_rules, group)
        needed = leaned_on(group, RECORDINGS)
        files[story_path(group.theme)] = partial(render_stories, needed, STORIES[group.theme])
    return files


def _alerts() -> dict[str, Callable[[], str]]:
    """Return what renders each file of the alerts: the rules and cases of each theme, and the runbooks."""
    settings = AlertSettings()
    files: dict[str, Callable[[], str]] = {
        "docs/reference/alerts/README.md": partial(render_runbook_index, ALERTS, THEMES, settings)
    }
    for theme, help_text in THEMES.items():
        mine = [alert for alert in ALERTS if alert.theme == theme]
        files[alert_rule_path(theme)] = partial(render_alert_rules, theme, help_text, mine, settings)
        files[alert_case_path(theme)] = partial(render_alert_cases, theme, mine, RECORDINGS, settings)
    for alert in ALERTS:
        files[runbook_path(alert)] = partial(render_runbook, alert, RUNBOOKS[alert.name], settings)
    for name, text in loki_rule_files(ALERTS, THEMES, settings).items():
        files[loki_rule_path(name)] = partial(str, text)
    return files


def _boards() -> Iterator[Artifact]:
    """Yield the files of each board, at the thresholds that hold unless the settings say otherwise, and their page."""
    yield Artifact("docs/reference/boards.md", partial(render_boards_page, BOARDS))
    for board in BOARDS:
        yield Artifact(picture_path(board), partial(render_picture, board))
        yield Artifact(board_path(board), partial(render_board, board, BoardSettings()))


def rendered(wanted: Iterable[Artifact]) -> dict[str, bytes]:
    """Return the bytes of each file by path; raises ValueError when there are none, or one is empty or unmarked."""
    texts = {artifact.path: artifact.render() for artifact in wanted}
    if not texts:
        raise ValueError("there is nothing to generate")
    for path, text in texts.items():
        if not mark.is_marked(text) or not text.partition("\n")[2].strip():
            raise ValueError(f"{path}: a generated file begins with the mark and says something")
    return {path: text.encode() for path, text in texts.items()}


def differences(
    root: Path, texts: dict[str, bytes], folders: Sequence[str] = GENERATED_FOLDERS
) -> tuple[Difference, ...]:
    """Compare the files below `root` with what they should be, in the order of their paths.

    In `folders` any file that is not among them is left over.
    """
    found = []
    for path, content in texts.items():
        file = root / path
        if not file.is_file():
            found.append(Difference(path, "missing"))
        elif file.read_bytes() != content:
            found.append(Difference(path, "differs"))
    found.extend(Difference(path, "left over") for path in _files(root, folders) if path not in texts)
    return tuple(sorted(found, key=lambda difference: difference.path))


def write(root: Path, texts: dict[str, bytes], folders: Sequence[str] = GENERATED_FOLDERS) -> tuple[Difference, ...]:
    """Mend what differs, each file at once or not at all, and return what was mended.

    A left-over file is removed if it bears the mark; one that a person wrote is not touched.
    """
    mended = []
    for difference in differences(root, texts, folders):
        file = root / difference.path
        if difference.path in texts:
            _replace(file, texts[difference.path])
        elif mark.is_marked(file.read_text(errors="replace")):
            file.unlink()
        else:
            continue
        mended.append(difference)
    return tuple(mended)


def foreign(root: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Return the paths at which there is what nobody generated: a file without the mark, or a folder."""
    there = ((path, root / path) for path in paths if (root / path).exists())
    return tuple(
        path for path, file in there if not file.is_file() or not mark.is_marked(file.read_text(errors="replace"))
    )


def _files(root: Path, folders: Sequence[str]) -> list[str]:
    return [
        file.relative_to(root).as_posix() for folder in folders for file in (root / folder).rglob("*") if file.is_file()
    ]


def _replace(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        temporary.chmod(_MODE)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
