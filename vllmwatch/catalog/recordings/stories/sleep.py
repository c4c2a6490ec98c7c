"""Stories of sleep: requests to an engine that sleeps, and to one that is awake or does not say."""

from vllmwatch.catalog.recordings.stories.words import engine_says, expect, of_engine
from vllmwatch.spec.story import Story

_STATE = "vllm:engine_sleep_state"

STORIES: tuple[Story, ...] = (
    Story(
        "of four engines two sleep, one of which has no requests; one is awake, one is of a release that says not",
        30,
        (
            *(
                of_engine(f"vllm:num_requests_{state}", f"{count}x20", engine=engine)
                for engine, waiting, running in (("0", 3, 1), ("1", 0, 0), ("2", 3, 1), ("3", 3, 1))
                for state, count in (("waiting", waiting), ("running", running))
            ),
            of_engine(_STATE, "0x20", sleep_state="awake"),
            of_engine(_STATE, "1x20", sleep_state="weights_offloaded"),
            of_engine(_STATE, "0x20", engine="1", sleep_state="awake"),
            of_engine(_STATE, "1x20", engine="2", sleep_state="awake"),
            of_engine(_STATE, "0x20", engine="2", sleep_state="weights_offloaded"),
        ),
        (expect("5m", "engine:requests_asleep:now", engine_says(4), engine_says(0, engine="1")),),
    ),
)
