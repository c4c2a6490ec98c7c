"""`vllmwatch generate` on a copy of the source, and where there is none."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    copy = tmp_path / "checkout"
    shutil.copytree(ROOT / "vllmwatch", copy / "vllmwatch", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", copy)
    (copy / "tests").mkdir()
    return copy


def generate(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from vllmwatch.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-B", "-c", code, str(folder), "generate", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def test_what_is_written_passes_the_check_and_what_is_changed_does_not(checkout: Path) -> None:
    missing = generate(checkout, "--check")
    assert missing.returncode == 1
    assert "docs/reference/metrics.md: missing\n" in missing.stdout
    assert missing.stderr.endswith("hint: Run `vllmwatch generate`\n")
    assert not (checkout / "docs").exists()
    assert generate(checkout).returncode == 0
    assert generate(checkout, "--check").returncode == 0
    page = checkout / "docs/reference/metrics.md"
    page.write_text(page.read_text().replace("Metrics", "Matrics", 1))
    changed = generate(checkout, "--check")
    assert (changed.returncode, changed.stdout) == (1, "docs/reference/metrics.md: differs\n")
    assert generate(checkout).stdout.startswith("docs/reference/metrics.md: differs, mended\n")


def test_a_file_left_over_is_found_and_removed_if_it_was_generated(checkout: Path) -> None:
    assert generate(checkout).returncode == 0
    folder = checkout / "docs/reference"
    (folder / "old.md").write_text((folder / "metrics.md").read_text())
    assert generate(checkout, "--check").stdout == "docs/reference/old.md: left over\n"
    assert generate(checkout).returncode == 0
    assert not (folder / "old.md").exists()


def test_a_file_that_a_person_wrote_is_not_removed(checkout: Path) -> None:
    note = checkout / "docs/reference/note.md"
    note.parent.mkdir(parents=True)
    note.write_text("mine\n")
    outcome = generate(checkout)
    assert outcome.returncode == 1
    assert "hint: Move what a person wrote elsewhere: docs/reference/note.md" in outcome.stderr
    assert note.read_text() == "mine\n"
    assert (note.parent / "metrics.md").is_file()


def test_print_shows_all_files_and_writes_none(checkout: Path) -> None:
    outcome = generate(checkout, "--print")
    assert outcome.stdout.startswith("--- alerts/loki/alerts_")
    assert "\n--- docs/reference/cli.md\n<!-- Generated" in outcome.stdout
    assert outcome.stdout.count("\n--- docs/reference/") > 5
    assert not (checkout / "docs").exists()


def test_an_installed_package_says_that_it_has_no_source(checkout: Path) -> None:
    (checkout / "pyproject.toml").unlink()
    outcome = generate(checkout)
    assert outcome.returncode == 1
    assert "belong to a checkout of its source" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert not (checkout / "docs").exists()
