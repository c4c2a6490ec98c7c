"""What each route of the exporter answers."""

import asyncio
import html
import json
import zlib
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse

from vllmwatch import __version__
from vllmwatch.exporter.debug import debug_of
from vllmwatch.exporter.fleet import Fleet, fleet_of
from vllmwatch.exporter.http_sd import http_sd
from vllmwatch.exporter.page import CONTENT_TYPE
from vllmwatch.exporter.runbooks import runbook, runbook_rows
from vllmwatch.exporter.service import Sampled, Service

_TIMEOUT_HEADER = "X-Prometheus-Scrape-Timeout-Seconds"
# A scraper with a very short timeout still gets what the GPUs and the quickest targets can say in this time.
_LEAST_TIMEOUT_SECONDS = 0.1
_GZIP_WINDOW = 31
_HTML_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"


class _IndentedResponse(JSONResponse):
    """JSON that people read in a terminal."""

    def render(self, content: object) -> bytes:
        return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8", "replace")


def metrics_endpoint(service: Service) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers `/metrics`: all metrics, sampled now.

    It is a plain endpoint of Starlette's, which FastAPI stands on: what FastAPI does for arguments and models, this
    one, which is asked all the time, has no use for.
    """

    async def metrics(request: Request) -> Response:
        sampled = await service.sample(scrape_timeout_seconds(request.headers.get(_TIMEOUT_HEADER), service))
        return await _as_accepted(sampled.page, request.headers.get("Accept-Encoding", ""))

    return metrics


def scrape_routes(service: Service) -> APIRouter:
    """Return the other routes that Prometheus and supervisors ask."""
    router = APIRouter()

    @router.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        """Whether the exporter runs."""
        return "ok\n"

    @router.get("/-/ready", response_class=PlainTextResponse)
    async def ready() -> str:
        """Whether a first sample is there."""
        _last(service)
        return "ready\n"

    @router.get("/sd")
    async def service_discovery(request: Request) -> JSONResponse:
        """The targets for Prometheus' HTTP service discovery."""
        return JSONResponse(http_sd(_last(service).collection.targets, request.headers.get("Host")))

    return router


def people_routes(service: Service) -> APIRouter:
    """Return the routes that people, and programs that stand in for them, ask."""
    router = APIRouter()

    @router.get("/api/v1/fleet")
    async def fleet() -> Fleet:
        """The last sample of servers and GPUs."""
        collection = _last(service).collection
        return fleet_of(collection, service.options.node, await asyncio.to_thread(service.figures))

    @router.get("/debug/last")
    async def debug() -> JSONResponse:
        """Why a target failed in the last sample."""
        return _IndentedResponse(debug_of(_last(service).collection))

    @router.get("/runbooks/", response_class=HTMLResponse)
    async def runbooks() -> HTMLResponse:
        """Every alert, and what it is."""
        rows = await asyncio.to_thread(runbook_rows)
        return _html("vllmwatch runbooks", f"<table><tr><th>Alert<th>What it is</tr>\n{rows}</table>")

    @router.get("/runbooks/{name}", response_class=PlainTextResponse)
    async def runbook_of(name: str) -> str:
        """What an alert means, where to look first, and what to do."""
        text = runbook(name)
        if text is None:
            raise HTTPException(404, "there is no such alert; /runbooks/ lists them")
        return text

    @router.post("/-/reload", response_class=PlainTextResponse)
    async def reload() -> str:
        """Read the configuration anew, where that is enabled."""
        if not service.options.reload_over_http:
            raise HTTPException(403, "reloading over HTTP is off (reload_over_http); send SIGHUP instead")
        fault = service.reload()
        if fault is not None:
            raise HTTPException(400, fault)
        return "reloaded\n"

    @router.get("/", response_class=HTMLResponse)
    async def index() -> HTMLResponse:
        """A page for people."""
        return _html(f"vllmwatch exporter {__version__}", _index(service.last))

    return router


def scrape_timeout_seconds(header: str | None, service: Service) -> float:
    """Return how long a scrape may take: the scraper's own timeout less an offset, and what a target gets at most."""
    options = service.options
    try:
        asked = float(header) if header is not None else None
    except ValueError:
        asked = None
    most = options.scrape_timeout_seconds
    if asked is None or not 0 < asked < float("inf"):
        return most
    return min(max(asked - options.scrape_timeout_offset_seconds, _LEAST_TIMEOUT_SECONDS), most)


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header asks for gzip."""
    for part in header.split(","):
        name, _, parameters = part.partition(";")
        if name.strip().lower() == "gzip":
            return parameters.replace(" ", "").lower() not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


async def _as_accepted(page: bytes, accept_encoding: str) -> Response:
    headers = {"Vary": "Accept-Encoding"}
    if accepts_gzip(accept_encoding):
        page = await asyncio.to_thread(zlib.compress, page, 1, _GZIP_WINDOW)
        headers["Content-Encoding"] = "gzip"
    return Response(page, media_type=CONTENT_TYPE, headers=headers)


def _last(service: Service) -> Sampled:
    if service.last is None:
        raise HTTPException(503, "the first sample is under way")
    return service.last


def _index(last: Sampled | None) -> str:
    rows = ""
    if last is not None:
        for sample in last.collection.targets:
            cells = (
                sample.target.server,
                "up" if sample.up else f"down: {sample.reason}",
                sample.facts.model_name,
                sample.facts.version,
            )
            rows += "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>\n"
    return (
        "<table><tr><th>Server<th>State<th>Model<th>Version</tr>\n" + rows + "</table>\n"
        '<p><a href="/metrics">metrics</a> · <a href="/api/v1/fleet">fleet</a> · '
        '<a href="/debug/last">why a target failed</a> · <a href="/sd">service discovery</a> · '
        '<a href="/runbooks/">alerts</a></p>'
    )


def _html(title: str, body: str) -> HTMLResponse:
    """Return a page for people that loads nothing and runs nothing."""
    text = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>\n'
        "<style>body{font:16px sans-serif;margin:2rem}td,th{text-align:left;padding:.2rem 1rem}</style>\n"
        f"<h1>{title}</h1>\n{body}</html>\n"
    )
    return HTMLResponse(text, headers={"Content-Security-Policy": _HTML_POLICY})
