"""The generated files in the repository are those that the catalogue makes now."""

from pathlib import Path

from vllmwatch.cli.reference import command_help
from vllmwatch.render.artifacts import artifacts, differences, rendered

ROOT = Path(__file__).parents[1]


def test_generated_files_are_up_to_date() -> None:
    found = differences(ROOT, rendered(artifacts(command_help())))
    assert not found, f"run `vllmwatch generate`: {found}"


def test_generated_files_stand_in_the_order_of_their_paths() -> None:
    paths = [artifact.path for artifact in artifacts(command_help())]
    assert paths == sorted(set(paths))
