"""A hundred megabytes at once: all of it is read, no other log waits for it, and the memory stays what it was."""

import subprocess
import sys
from pathlib import Path

import pytest

_MEGABYTES = 100
_LINE_BYTES = 1000
# A tenth of what is read: a reader that held it would need all of it.
_MOST_GROWTH = _MEGABYTES * 1024 // 10
_FOLLOW = """
import resource, sys, time
from pathlib import Path
from vllmwatch.exporter.log_watch import LogWatch
from vllmwatch.sources.logs.origin import LogKind, LogOrigin

flood, other = Path(sys.argv[1]), Path(sys.argv[2])
other.touch()
watch = LogWatch(Path(sys.argv[3]))
watch.configure([LogOrigin(LogKind.FILE, str(path), path.stem) for path in (flood, other)], lambda identity: "")
while not watch.reading().places:
    time.sleep(0.05)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
Path(sys.argv[4]).rename(flood)
while not watch.reading().lines[flood.stem, "info"]:
    time.sleep(0.05)
other.write_text("INFO:     one line\\n")
while not watch.reading().lines[other.stem, "info"]:
    time.sleep(0.05)
meanwhile = watch.reading().lines[flood.stem, "info"]
deadline = time.monotonic() + 200
while watch.reading().lines[flood.stem, "info"] < int(sys.argv[5]) and time.monotonic() < deadline:
    time.sleep(0.2)
print(meanwhile, watch.reading().lines[flood.stem, "info"], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
watch.close()
"""


@pytest.mark.long
def test_a_hundred_megabytes_at_once(tmp_path: Path) -> None:
    lines = _MEGABYTES * 1_000_000 // _LINE_BYTES
    head = "(Worker pid=5) INFO 11-30 19:16:03 [a.py:1] "
    flood = tmp_path / "flood"
    with flood.open("w") as stream:
        stream.writelines(f"{head}{number:010}".ljust(_LINE_BYTES - 1, "x") + "\n" for number in range(lines))
    places = [str(tmp_path / name) for name in ("flood.log", "other.log", "state.json")]
    done = subprocess.run(
        [sys.executable, "-c", _FOLLOW, *places, str(flood), str(lines)],
        capture_output=True,
        text=True,
        timeout=280,
        check=True,
    )
    meanwhile, read, growth_kibibytes = (int(word) for word in done.stdout.split())
    assert read == lines
    assert meanwhile < lines / 2, "the other log waited"
    assert growth_kibibytes < _MOST_GROWTH
