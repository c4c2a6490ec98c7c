"""The exporter's application: its routes, and the sampling that goes on beside them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from fastapi import FastAPI

from vllmwatch import __version__
from vllmwatch.exporter.routes import metrics_endpoint, people_routes, scrape_routes
from vllmwatch.exporter.service import Service


def create_app(service: Service) -> FastAPI:
    """Return the application; it samples by itself while it runs."""

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        sampling = asyncio.create_task(service.keep_sampling())
        yield
        sampling.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await sampling
        service.close()

    app = FastAPI(title="vllmwatch exporter", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    app.add_route("/metrics", metrics_endpoint(service), methods=["GET", "HEAD"])
    app.include_router(scrape_routes(service))
    app.include_router(people_routes(service))
    return app
