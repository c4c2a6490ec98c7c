"""Where the real peers of the tests lie: all under the checkout's state directory, which git ignores."""

import os
import socket
from pathlib import Path

ROOT = Path(__file__).parents[2]
STATE = Path(os.environ.get("VLLMWATCH_STATE") or ROOT / ".vllmwatch").absolute()
TEST_STATE = STATE / "test"

VLLM_ENVIRONMENT = TEST_STATE / "vllm-env"
TINY_MODEL = TEST_STATE / "tiny-model"
PROMETHEUS_FOLDER = TEST_STATE / "prometheus"
ALERTMANAGER_FOLDER = TEST_STATE / "alertmanager"


class PeerUnavailableError(Exception):
    """A real peer that cannot be had on this machine; the text says why."""


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def last_lines(path: Path, count: int = 30) -> str:
    """Return the last lines of a log, or the empty string where there is none."""
    if not path.exists():
        return ""
    return "\n".join(path.read_text(errors="replace").splitlines()[-count:])
