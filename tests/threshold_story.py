"""A story of three models, of which one has a threshold of its own for the latency of requests."""

from vllmwatch.catalog.recordings.stories.words import expect, model_says, of_engine, server_says
from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.spec.story import Series, Story
from vllmwatch.spec.threshold import Thresholds

SLOW, SLOWER = "org/slow-1.5", "org/slow-175"
_SLOW: dict[str, dict[str, float]] = {model: {"request_latency_p99_seconds": 10.0} for model in (SLOW, "org/(other)")}
OWN = Thresholds(DEFAULTS.everywhere, _SLOW | {SLOWER: {"time_to_first_token_p99_seconds": 5.0}})
METRIC = "vllm:e2e_request_latency_seconds"


def requests(server: str, model_name: str) -> tuple[Series, ...]:
    """Return sixty requests a minute: 30 take up to 2 s, 27 more up to 10 s, and 3 longer."""
    return (
        *(
            of_engine(f"{METRIC}_bucket", f"5000+{step}x40", server=server, model_name=model_name, le=edge)
            for edge, step in (("2.0", 30), ("10.0", 57), ("+Inf", 60))
        ),
        of_engine(f"{METRIC}_count", "5000+60x40", server=server, model_name=model_name),
    )


STORY = Story(
    "three models",
    60,
    (*requests("box:1", "llama"), *requests("box:2", SLOW), *requests("box:3", SLOWER)),
    (
        expect(
            "20m",
            "server:request_latency_slow:increase5m",
            server_says(150, "box:1"),
            server_says(15, "box:2", SLOW),
            server_says(150, "box:3", SLOWER),
        ),
        expect(
            "20m",
            "model:request_latency_slow:ratio_increase10m",
            model_says(0.5),
            model_says(0.05, SLOW),
            model_says(0.5, SLOWER),
        ),
        expect(
            "20m",
            "model:request_latency_observed:increase10m",
            *(model_says(600, model) for model in ("llama", SLOW, SLOWER)),
        ),
    ),
)
