"""Series of errors for the cases: requests that end, and answers over HTTP."""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine, of_server, series, target
from vllmwatch.spec.case import steady
from vllmwatch.spec.story import Series

OF_MODEL = {"model_name": MODEL}
OF_SERVER = {"node": NODE, "server": SERVER, "model_name": MODEL}


def ended(reason: str, values: str, **labels: str) -> Series:
    """Return how many requests ended for a reason."""
    return of_engine("vllm:request_success_total", values, **labels, finished_reason=reason)


def answered(status: str, values: str, server: str = SERVER, **labels: str) -> Series:
    """Return how many HTTP requests were answered with a status."""
    of = {"handler": "/v1/completions", "method": "POST", "status": status}
    return of_server("http_requests_total", values, server, **of, **labels)


def refused(values: str, server: str = SERVER, model_name: str = MODEL, **labels: str) -> Series:
    """Return how many requests were refused since the queue was at its limit."""
    of = {"node": NODE, "server": server, "model_name": model_name, "reason": "max_num_queued_reqs"}
    return series("vllm:admission_rejections_total", values, **of, **labels)


def known(lasts: str, server: str = SERVER, model_name: str = MODEL) -> tuple[Series, Series]:
    """Return that a server is there for a time, and what it serves."""
    running = of_engine("vllm:num_requests_running", steady(3, lasts), server=server, model_name=model_name)
    return target(steady(1, lasts), server, model_name), running
