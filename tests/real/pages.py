"""What a page of a real server says, read by Prometheus' own client, and what should become of it on ours."""

from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from tests.exporter.vllm.pages import Series, samples_of

# No series of these is an engine's, so none gains or carries an engine.
DROPPED = ("python_",)


def expected(page: str, content_type: str, server: str, node: str) -> dict[Series, float]:
    """Return every sample of a real 0.32 page as it should stand on ours: all names are canonical already."""
    openmetrics = "openmetrics" in content_type
    read = read_openmetrics if openmetrics else read_text
    # vLLM's OpenMetrics page has underscores for the colons in the names of its samples, and of them alone.
    text = page.replace("\nvllm_", "\nvllm:") if openmetrics else page
    found: dict[Series, float] = {}
    for family in read(text):
        for sample in family.samples:
            if sample.name.endswith("_created") or sample.name.startswith(DROPPED):
                continue
            labels = {**sample.labels, "server": server, "node": node}
            found[sample.name, tuple(sorted(labels.items()))] = sample.value
    return found


def of_server(page: str, server: str) -> dict[Series, float]:
    """Return the samples on our page that a server told, ours about it left out."""
    return {
        (name, labels): value
        for (name, labels), value in samples_of(page).items()
        if ("server", server) in labels and not name.startswith("vllmwatch_")
    }


def value(page: str, name: str, **labels: str) -> float | None:
    """Return the one sample of a name that has these labels, or None."""
    found = [
        number
        for (sample, pairs), number in samples_of(page).items()
        if sample == name and labels.items() <= dict(pairs).items()
    ]
    assert len(found) <= 1, found
    return found[0] if found else None
