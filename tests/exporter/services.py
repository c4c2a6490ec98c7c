"""The whole exporter in one process, for tests: real sockets to targets, no socket for the exporter itself."""

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence

import httpx

from vllmwatch.exporter.app import create_app
from vllmwatch.exporter.gpu_watch import GpuWatch
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.service import Configured, Service
from vllmwatch.sources.discovery import StaticTargets
from vllmwatch.sources.target import Origin, Target


def target(url: str, server: str = "box:8000") -> Target:
    """Return a target of the configuration."""
    return Target(url, server, "box", Origin.STATIC)


def configured(targets: Sequence[Target], **options: object) -> Configured:
    """Return what a configuration with these targets makes."""
    return Configured(ExporterOptions(node="box", **options), StaticTargets(targets))  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def exporter(
    load: Callable[[], Configured], gpus: GpuWatch | None = None, *, sampling: bool = False
) -> AsyncIterator[tuple[httpx.AsyncClient, Service]]:
    """Run the application; with `sampling` it samples by itself too."""
    service = Service(load, gpus)
    app = create_app(service)
    async with contextlib.AsyncExitStack() as stack:
        if sampling:
            await stack.enter_async_context(app.router.lifespan_context(app))
        else:
            stack.callback(service.close)
        transport = httpx.ASGITransport(app)
        yield await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://test")), service
