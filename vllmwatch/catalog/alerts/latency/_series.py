"""Series of latencies for the cases: so many requests a second, of which so many are slow."""

from vllmwatch.catalog.latencies import Latency
from vllmwatch.catalog.recordings.stories.words import MODEL, SERVER, of_engine
from vllmwatch.spec.case import Case, at, fires, flowing, messy, quiet
from vllmwatch.spec.story import Series

OF_MODEL = {"model_name": MODEL}
CAUSES = ("GpuLost", "ModelWithoutServer", "VllmEngineStuck", "VllmServerDown")
"""What is told instead: a model that lost a server, or a GPU of one, is slow for that."""
Flow = tuple[float, float, str]
"""How many a second, how many of them are slow, and for how long."""


def timed(
    latency: Latency,
    edge: str,
    *flows: Flow,
    begin: float = 0.0,
    engine: str = "0",
    server: str = SERVER,
    model_name: str = MODEL,
    **labels: str,
) -> tuple[Series, Series]:
    """Return how many requests were timed, and how many of them were within an edge."""
    within = flowing(*((each - slow, lasts) for each, slow, lasts in flows), begin=begin)
    every = flowing(*((each, lasts) for each, _, lasts in flows), begin=begin)
    who = {"engine": engine, "server": server, "model_name": model_name}
    return (
        of_engine(f"{latency.metric}_bucket", within, **who, le=edge, **labels),
        of_engine(f"{latency.metric}_count", every, **who, **labels),
    )


def cases_of_a_share(latency: Latency, edge: str, scale: float = 1.0) -> tuple[Case, ...]:
    """Return the cases of an alert on more than 1 % of at least 100 observations in 10 minutes, of which 5 are slow.

    It holds for 15 minutes. `scale` multiplies both numbers where an alert asks for more observations.
    """

    def of(each: float, slow: float, lasts: str) -> Flow:
        return each * scale, slow * scale, lasts

    return (
        fires(
            "2 % are slow for a quarter of an hour and more: six of 270 in ten minutes",
            *timed(latency, edge, of(0.45, 0, "10m"), of(0.45, 0.01, "27m"), of(0.45, 0, "30m"), begin=9000),
            at("26m"),
            at("36m", OF_MODEL),
            at("65m"),
        ),
        quiet(
            "0.8 % are slow; 1.5 %, which are three; 15 % of sixty; all for two minutes, as after a start",
            *timed(latency, edge, of(2, 0.016, "45m"), model_name="few slow"),
            *timed(latency, edge, of(0.333, 0.005, "45m"), model_name="three slow"),
            *timed(latency, edge, of(0.1, 0.015, "45m"), model_name="sixty"),
            *timed(latency, edge, of(1, 0, "10m"), of(1, 1, "2m"), of(1, 0, "33m"), model_name="started"),
            *(at(time) for time in ("15m", "22m", "26m", "35m", "44m")),
        ),
        messy(
            "sixty scraped twice are no more; a restart makes nobody slow; of two servers one is, and one has no edge",
            *timed(latency, edge, of(0.1, 0.015, "45m"), model_name="few"),
            *timed(latency, edge, of(0.1, 0.015, "45m"), model_name="few", job="again"),
            *(
                Series(each.selector, f"{each.values} {each.values}")
                for each in timed(latency, edge, of(3, 0, "22m"), model_name="restarted")
            ),
            *timed(latency, edge, of(1, 0, "45m"), model_name="two"),
            *timed(latency, edge, of(1, 0.1, "45m"), model_name="two", server="box:8001"),
            timed(latency, edge, of(9, 9, "45m"), model_name="two", server="box:8002")[1],
            *timed(latency, edge, of(0, 0, "45m"), model_name="two", server="box:8003", engine="1"),
            at("35m", {"model_name": "two"}),
            at("43m", {"model_name": "two"}),
        ),
    )
