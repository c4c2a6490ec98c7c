"""The log of a child: bounded, and never in its way."""

from pathlib import Path

from vllmwatch.stack.bounded_log import BoundedLog


def test_a_full_disk_costs_lines_of_the_file_and_nothing_else() -> None:
    log = BoundedLog(Path("/dev/full"))
    for number in range(30):
        log.write(b"line %d\n" % number)
    assert log.last_lines()[-1] == "line 29"
    log.close()


def test_the_files_stay_bounded(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "child.log", limit_bytes=1000)
    for number in range(500):
        log.write(b"line %d\n" % number)
    log.close()
    files = sorted(tmp_path.iterdir())
    assert [path.name for path in files] == ["child.log", "child.log.1"]
    assert all(path.stat().st_size <= 1000 for path in files)
    assert files[0].read_text().endswith("line 499\n")
