"""The exporter as a process: a socket, signals, and uvicorn."""

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Iterator

import uvicorn

from vllmwatch.errors import StartError
from vllmwatch.exporter.app import create_app
from vllmwatch.exporter.arenas import limit_arenas
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.log_watch import LogWatch
from vllmwatch.exporter.service import Configured, Service

_SHUTDOWN_SECONDS = 3
# Longer than people wait between scrapes, so that a scraper need not connect anew each time.
_KEEP_ALIVE_SECONDS = 75


def serve(
    host: str,
    port: int,
    load: Callable[[], Configured],
    gpus: GpuWatch | None,
    logs: LogWatch | None,
    told: Callable[[str], None],
) -> None:
    """Serve until SIGINT or SIGTERM; SIGHUP reads the configuration anew.

    `told` is called with the address once it is listened on. Raises StartError when the address cannot be had.
    """
    limit_arenas()
    listening = _listen(host, port)
    bound = listening.getsockname()
    shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    service = Service(load, gpus, logs)
    config = uvicorn.Config(
        create_app(service),
        log_config=None,
        access_log=False,
        lifespan="on",
        http="httptools",
        ws="none",
        loop="asyncio",
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    told(f"http://{shown}:{bound[1]}")
    asyncio.run(_run(_Server(config), listening, service))


class _Server(uvicorn.Server):
    """uvicorn, whose signals are taken by us: its own way ends a process that was asked to end with a failure."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield

    def stop(self) -> None:
        """End after the answers under way; asked twice, at once."""
        self.force_exit = self.should_exit
        self.should_exit = True


async def _run(server: _Server, listening: socket.socket, service: Service) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGHUP, service.reload)
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, server.stop)
    await server.serve(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = addresses[0]
        # "::" is every address of the host, as people expect, those of IPv4 included.
        both = family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
        where = (str(address[0]), int(address[1]))
        listening = socket.create_server(where, family=family, backlog=128, dualstack_ipv6=both)
    except OSError as error:
        # The text of the system's own error: create_server adds the address, which stands before it already.
        reason = error.strerror if isinstance(error, socket.gaierror) else os.strerror(getattr(error, "errno", 0) or 0)
        raise StartError(
            f"cannot listen on {host}:{port}: {reason}",
            hint="Choose another address with --listen HOST:PORT, or end the program that has it.",
        ) from error
    # asyncio sets this only on sockets that name their protocol, which accepted ones do not. Without it, the end of
    # each answer waits for the scraper's delayed acknowledgement, 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
