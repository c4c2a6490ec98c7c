"""Records the logs of real vLLM servers that lie in tests/data/logs, each with what its metrics page counted.

Run as `python -m tests.real.record_logs [NAME …]`, about a minute a log; the environment must be there
(`python -m tests.real.vllm_environment`). Paths of the machine and lines that come by the hundred are left out.
"""

import argparse
import json
import re
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import requests
from prometheus_client.parser import text_string_to_metric_families

from tests.real.load import Load
from tests.real.places import ROOT, VLLM_ENVIRONMENT
from tests.real.vllm_environment import VLLM_VERSION
from tests.real.vllm_server import VllmServer

FOLDER = ROOT / "tests" / "data" / "logs"
SECRET = "my-secret-words"
KEY = "sk-recorded-key-123456"
_STATS_SECONDS = 11.0
_COUNTED = ("vllm:request_success_total", "vllm:prompt_tokens_total", "vllm:generation_tokens_total")
# How often a line of one place in the code is kept; all lines of requests are.
_KEPT_OF_ONE_PLACE = 3
_PLACE = re.compile(r"\[([^\]]+:\d+)\]|\"name\": \"([^\"]+)\"|^( - leaked|INFO: +[A-Z])")
_KEPT = re.compile(r"request|loggers|response|ERROR|HTTP/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LogRecording:
    """One log: its name without suffix, how the server is started, and whether its engine is killed at the end."""

    name: str
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict, hash=False)
    killed: bool = False


RECORDINGS = (
    LogRecording("text", ("--enable-log-requests", "--enable-log-outputs"), killed=True),
    LogRecording("json", ("--enable-log-requests", "--logging-config.formatter", "json"), killed=True),
    LogRecording("colored", (), {"VLLM_LOGGING_COLOR": "1"}),
    LogRecording("api_servers_2", ("--api-server-count", "2", "--enable-log-requests")),
    LogRecording("data_parallel_2", ("--data-parallel-size", "2")),
    LogRecording(
        "debug",
        ("--enable-log-requests", "--enable-log-outputs", "--log-level", "DEBUG"),
        {"VLLM_DEBUG_LOG_API_SERVER_RESPONSE": "1"},
    ),
)


def exercise(server: VllmServer) -> None:
    """Ask the server as users do, rightly, wrongly and half, with secrets in every place."""
    load = Load(server.url)
    load.many(8, at_once=4, max_tokens=16)
    load.complete(f"{SECRET} in a prompt", max_tokens=4)
    load.chat(f"{SECRET} in a chat, finish_reason: stop", max_tokens=4)
    load.wrong_model()
    load.wrong_max_tokens()
    load.abort(count=2)
    chat = server.url + "/v1/chat/completions"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {KEY}"}
    requests.post(chat, data=f"{{not json {SECRET}", headers=headers, timeout=30)
    wrong = {"model": "org/tiny", "messages": [{"role": "user", "content": {"deep": SECRET}}]}
    requests.post(chat, json=wrong, headers=headers, timeout=30)
    requests.get(f"{server.url}/v1/models?api_key={KEY}", timeout=30)


def counted(page: str) -> dict[str, float]:
    """Return what the metrics page of a server counted, all engines together, by name."""
    totals = dict.fromkeys(_COUNTED, 0.0)
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name in totals:
                totals[sample.name] += sample.value
    return totals


def thinned(text: str) -> Iterator[str]:
    """Yield the lines of a log without those that come again and again, and without the paths of this machine."""
    seen: Counter[str] = Counter()
    for line in text.split("\n"):
        place = _PLACE.search(line)
        if place and not _KEPT.search(line):
            seen[place[0]] += 1
            if seen[place[0]] > _KEPT_OF_ONE_PLACE:
                continue
        yield _placeless(line)


def _placeless(line: str) -> str:
    for pattern, path in (
        (re.escape(str(VLLM_ENVIRONMENT)), "/opt/vllm"),
        (re.escape(sys.base_prefix), "/usr"),
        (r"/[^\s'\"]*/(tiny[^\s'\"/]*)", r"/models/\1"),
    ):
        line = re.sub(pattern, path, line)
    return line


def record(recording: LogRecording, folder: Path = FOLDER) -> Path:
    """Start a server, ask it, end it, write its log and what it counted."""
    with tempfile.TemporaryDirectory() as temporary:
        server = VllmServer(Path(temporary), arguments=recording.arguments, environment=recording.environment)
        try:
            server.start()
            exercise(server)
            time.sleep(_STATS_SECONDS)
            totals = counted(server.page())
            if recording.killed:
                for process in server.engine_processes():
                    process.send_signal(signal.SIGKILL)
                time.sleep(_STATS_SECONDS)
        finally:
            server.stop()
        text = server.log.read_bytes().decode(errors="replace")
    path = folder / f"vllm_{VLLM_VERSION}_{recording.name}.log"
    path.write_text("\n".join(thinned(text)), encoding="utf-8", newline="\n")
    path.with_suffix(".json").write_text(json.dumps(totals, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return path


def main() -> None:
    """Record the logs that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *(recording.name for recording in RECORDINGS)])
    names = parser.parse_args().names
    FOLDER.mkdir(parents=True, exist_ok=True)
    for recording in RECORDINGS:
        if not names or recording.name in names:
            print(record(recording))


if __name__ == "__main__":
    main()
