"""The exporter as a process: a socket, signals, and uvicorn."""

import asyncio
import signal
import socket
from collections.abc import Callable

import uvicorn

from vllmwatch.errors import StartError
from vllmwatch.exporter.app import create_app
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.service import Service, Setup

_SHUTDOWN_SECONDS = 3


def serve(host: str, port: int, load: Callable[[], Setup], gpus: GpuWatch | None, told: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; SIGHUP reads the configuration anew.

    `told` is called with the address once it is listened on. Raises StartError when the address cannot be had.
    """
    listening = _listen(host, port)
    bound = listening.getsockname()
    shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
    service = Service(load, gpus)
    config = uvicorn.Config(
        create_app(service),
        log_config=None,
        access_log=False,
        lifespan="on",
        http="h11",
        ws="none",
        loop="asyncio",
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )
    told(f"http://{shown}:{bound[1]}")
    asyncio.run(_run(uvicorn.Server(config), listening, service))


async def _run(server: uvicorn.Server, listening: socket.socket, service: Service) -> None:
    asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, service.reload)
    await server.serve(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = addresses[0]
        return socket.create_server((str(address[0]), int(address[1])), family=family, backlog=128)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise StartError(
            f"cannot listen on {host}:{port}: {reason}",
            hint="Choose another address with --listen HOST:PORT, or end the program that has it.",
        ) from error
