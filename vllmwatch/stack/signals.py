"""The signals that `vllmwatch up` obeys."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from types import FrameType


@dataclass(frozen=True, slots=True)
class Requests:
    """What was asked for by signals: `stop` ends the stack, `reload` reads the exporter's configuration again.

    Both may be set from another thread, and whoever obeys `reload` clears it.
    """

    stop: Event = field(default_factory=Event)
    reload: Event = field(default_factory=Event)


@contextmanager
def requests_by_signal(*, at_terminal: bool) -> Iterator[Requests]:
    """Turn SIGINT, SIGTERM and SIGHUP into requests while the context lasts.

    SIGHUP asks to reload, as it does of daemons. At a terminal it says that the terminal was closed, and asks to stop,
    unless it was ignored before, as under `nohup`.
    """
    requests = Requests()

    def stop(_number: int, _frame: FrameType | None) -> None:
        requests.stop.set()

    def reload(_number: int, _frame: FrameType | None) -> None:
        requests.reload.set()

    ends = at_terminal and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN
    handlers = {signal.SIGINT: stop, signal.SIGTERM: stop, signal.SIGHUP: stop if ends else reload}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
