"""Sleep: requests that came to an engine that was put to sleep."""

from vllmwatch.catalog.recordings.terms import ON_ENGINE, of_engine, upstream
from vllmwatch.spec.recording import REQUESTS, Group, Recording

_ASLEEP = of_engine(upstream("vllm:engine_sleep_state", 'sleep_state="awake"'))

GROUP = Group(
    "sleep",
    "Requests that came to an engine that was put to sleep.",
    30,
    (
        Recording(
            "engine",
            "requests_asleep",
            "now",
            "Requests that an engine has and does not run since it sleeps; absent while it is awake.",
            REQUESTS,
            "(vllmwatch:engine:requests_waiting:max + vllmwatch:engine:requests_running:max)\n"
            f"and {ON_ENGINE} ({_ASLEEP} == 0)",
        ),
    ),
)
