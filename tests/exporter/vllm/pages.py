"""Words for tests of pages: translate one, merge several, read the result with Prometheus' own client."""

from collections.abc import Mapping
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from vllmwatch.exporter.collector import naming_of
from vllmwatch.exporter.options import ExporterOptions
from vllmwatch.exporter.vllm.merge import Merger
from vllmwatch.exporter.vllm.series import Identity
from vllmwatch.exporter.vllm.translator import TranslatedPage, Translator
from vllmwatch.sources.vllm.fetch import Fetched
from vllmwatch.spec.reason import Reason

RECORDED = Path(__file__).parents[2] / "data" / "vllm"

Series = tuple[str, tuple[tuple[str, str], ...]]


def fetched(page: str | bytes, *, openmetrics: bool = False, complete: bool = True) -> Fetched:
    """Return a page as if it had been fetched."""
    body = page.encode() if isinstance(page, str) else page
    return Fetched(body, openmetrics, complete, 0.01, "http://127.0.0.1:8000/metrics")


def translator(server: str = "box:8000", node: str = "box", **options: object) -> Translator:
    """Return a translator with the default names."""
    extra = options.pop("labels", {})
    left_out = options.pop("left_out", frozenset({"WorkerId", "SessionName"}))
    limit = options.pop("series_limit", 50_000)
    naming = naming_of(ExporterOptions(node=node, **options))  # type: ignore[arg-type]  # the caller names fields
    assert isinstance(extra, Mapping)
    assert isinstance(left_out, frozenset)
    assert isinstance(limit, int)
    return Translator(naming, Identity(server, node, extra), left_out, limit)


def translate(
    page: str | bytes, *, openmetrics: bool = False, complete: bool = True, **options: object
) -> TranslatedPage:
    """Translate one page that can be read."""
    result = translator(**options).translate(fetched(page, openmetrics=openmetrics, complete=complete))  # type: ignore[arg-type]
    assert isinstance(result, TranslatedPage), result
    return result


def why_not(page: str | bytes, *, complete: bool = True, **options: object) -> Reason | None:
    """Return the reason that a page has."""
    result = translator(**options).translate(fetched(page, complete=complete))  # type: ignore[arg-type]
    return result.reason if isinstance(result, TranslatedPage) else result


def text_of(*pages: TranslatedPage) -> str:
    """Return the merged text of pages."""
    return b"".join(Merger().merge(pages).chunks).decode()


def samples_of(text: str) -> dict[Series, float]:
    """Read a text with prometheus_client; fails where a family or a series stands twice."""
    found: dict[Series, float] = {}
    names: list[str] = []
    for family in text_string_to_metric_families(text):
        names.append(family.name)
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            assert key not in found, f"{key} stands twice"
            found[key] = sample.value
    assert len(set(names)) == len(names), "a family stands twice"
    return found


def values(text: str, name: str) -> dict[tuple[tuple[str, str], ...], float]:
    """Return the samples of one name by their labels, those that say whose they are left out."""
    return {
        tuple(pair for pair in labels if pair[0] not in {"server", "node"}): value
        for (sample, labels), value in samples_of(text).items()
        if sample == name
    }


def type_of(text: str, family: str) -> str | None:
    """Return the TYPE that a text gives a family."""
    for line in text.splitlines():
        if line.startswith(f"# TYPE {family} "):
            return line.rsplit(" ", 1)[1]
    return None
