"""Real processes that look like those of vLLM: a `vllm` script that listens, and processes with a title."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

SCRIPT = """\
import os, signal, socket, sys, time
port = int(os.environ["PORT"])
listener = socket.socket()
listener.bind((os.environ.get("BIND", "127.0.0.1"), port))
if "--quiet" not in sys.argv:
    listener.listen()
rendezvous = socket.socket()
rendezvous.bind(("127.0.0.1", 0))
rendezvous.listen()
def stop_listening(*_):
    listener.close()
    print("closed", flush=True)
signal.signal(signal.SIGUSR1, stop_listening)
print("up", flush=True)
end = time.monotonic() + 120
while time.monotonic() < end:
    time.sleep(1)
"""


class StandIn:
    """A running stand-in for a vLLM server; ends with the test."""

    def __init__(
        self, folder: Path, port: int, arguments: Sequence[str], before: Sequence[str] = (), bind: str = "127.0.0.1"
    ) -> None:
        script = folder / "vllm"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        self.process = subprocess.Popen(
            [*before, sys.executable, str(script), "serve", "org/tiny", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "BIND": bind, "PORT": str(port)},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "up\n"

    @property
    def pid(self) -> int:
        return self.process.pid

    def stop_listening(self) -> None:
        assert self.process.stdout is not None
        self.process.send_signal(signal.SIGUSR1)
        assert self.process.stdout.readline() == "closed\n"

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, 9)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "this did not come true in time"
        time.sleep(0.05)
