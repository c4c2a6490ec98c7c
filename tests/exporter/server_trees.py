"""Trees of real processes with vLLM's titles below a server that listens and answers as vLLM does."""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import psutil

from tests.exporter.vllm.pages import RECORDED
from tests.sources.processes.stand_in import wait_until

# The titles stay when the program that carries them is started with no other argument; cat waits for the end of its
# standard input, which the test holds open.
SCRIPT = """\
import http.server, json, os
from pathlib import Path
def start(title, below=()):
    if os.fork() == 0:
        for one in below:
            start(one)
        os.execv("/bin/cat", [title])
for title, below in json.loads(os.environ["TREE"]).items():
    start(title, below)
PAGE = Path(os.environ["PAGE"]).read_bytes()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = PAGE if self.path == "/metrics" else b'{"version": "0.32.0"}'
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass
server = http.server.ThreadingHTTPServer((os.environ["BIND"], int(os.environ["PORT"])), Handler)
print("up", flush=True)
server.serve_forever()
"""
ONE_ENGINE: Mapping[str, Sequence[str]] = {"VLLM::EngineCore": ("VLLM::Worker",)}
IDLE = RECORDED / "vllm_0.32.0_idle.prom"
DATA_PARALLEL = RECORDED / "vllm_0.32.0_data_parallel_2.prom"


def script(folder: Path) -> Path:
    """Write the program that is started as `vllm`."""
    path = folder / "vllm"
    path.write_text(SCRIPT)
    return path


def server_environment(
    port: int, tree: Mapping[str, Sequence[str]], page: Path = IDLE, bind: str = "127.0.0.1"
) -> dict[str, str]:
    return {**os.environ, "TREE": json.dumps(tree), "PAGE": str(page), "PORT": str(port), "BIND": bind}


class ServerTree:
    """A running server with its tree; `pids` has every titled process by its title."""

    def __init__(self, words: Sequence[str], environment: Mapping[str, str], titles: int) -> None:
        self.process = subprocess.Popen(
            words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "up\n"
        wait_until(lambda: len(self._titled()) == titles)
        self.pids = self._titled()

    def _titled(self) -> dict[str, int]:
        found = {}
        for child in psutil.Process(self.process.pid).children(recursive=True):
            words = child.cmdline()
            if len(words) == 1 and words[0].startswith("VLLM::"):
                found[words[0]] = child.pid
        return found

    def kill(self, title: str) -> None:
        """Kill one process, and wait until it is no more."""
        peer = psutil.Process(self.pids[title])
        peer.kill()
        wait_until(lambda: not peer.is_running() or peer.status() == psutil.STATUS_ZOMBIE)

    def kill_root(self) -> None:
        """Kill the API server alone."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.kill()
        for pid in self.pids.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextlib.contextmanager
def serving_tree(
    folder: Path,
    port: int,
    tree: Mapping[str, Sequence[str]] = ONE_ENGINE,
    *,
    page: Path = IDLE,
    flags: Sequence[str] = (),
    before: Sequence[str] = (),
    bind: str = "127.0.0.1",
) -> Iterator[ServerTree]:
    """Run a server with a tree below it while the context lasts."""
    words = [*before, sys.executable, str(script(folder)), "serve", "org/tiny", "--port", str(port), *flags]
    titles = len(tree) + sum(map(len, tree.values()))
    server = ServerTree(words, server_environment(port, tree, page, bind), titles)
    try:
        yield server
    finally:
        server.stop()
