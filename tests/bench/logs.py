"""Reading logs, secrets taken out, against a plain read of the same lines, in turn, in one process."""

import time
from collections.abc import Callable
from functools import partial

from tests.bench.figures import Section, compare
from tests.real.record_logs import FOLDER
from vllmwatch.catalog.loglines import LOG_CATALOG
from vllmwatch.sources.logs.lines import LineSplitter
from vllmwatch.sources.logs.parse import LineReader
from vllmwatch.sources.logs.redact import Redactor

_COPIES = 5


def section(rounds: int) -> Section:
    """Return the figures of the report."""
    logs = [path.read_bytes() for path in sorted(FOLDER.glob("*.log"))] * _COPIES
    lines = sum(log.count(b"\n") for log in logs)
    plain, redacted, parsed = [], [], []
    for _ in range(rounds):
        plain.append(_seconds(partial(_split, logs)))
        redacted.append(_seconds(partial(_redact, logs)))
        parsed.append(_seconds(partial(_parse, logs)))
    note = f"{lines} lines of real servers; {sum(parsed) / len(parsed) / lines * 1e6:.1f} µs a line on this machine"
    return Section(
        "Cost of reading logs",
        (
            compare("take out secrets / cut bytes into lines", redacted, plain),
            compare("parse, secrets taken out / cut bytes into lines", parsed, plain),
        ),
        (note,),
    )


def _split(logs: list[bytes]) -> list[list[str]]:
    return [LineSplitter().split(log) for log in logs]


def _redact(logs: list[bytes]) -> None:
    redactor = Redactor(LOG_CATALOG.redactions)
    for lines in _split(logs):
        for line in lines:
            redactor.redact(line)


def _parse(logs: list[bytes]) -> None:
    for lines in _split(logs):
        reader = LineReader(LOG_CATALOG)
        for line in lines:
            reader.read(line)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.thread_time()
    work()
    return time.thread_time() - begun
