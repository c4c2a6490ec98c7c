"""Stories that the recordings must tell right, by the theme of their group."""

from collections.abc import Mapping

from vllmwatch.catalog.recordings.stories import (
    caches,
    cost,
    energy,
    errors,
    gpus,
    health,
    join,
    latency,
    life,
    saturation,
    sleep,
    stragglers,
    traffic,
    transfer,
    utilization,
)
from vllmwatch.spec.story import Story

STORIES: Mapping[str, tuple[Story, ...]] = {
    "join": join.STORIES,
    "traffic": traffic.STORIES,
    "latency": latency.STORIES,
    "life": life.STORIES,
    "errors": errors.STORIES,
    "saturation": saturation.STORIES,
    "sleep": sleep.STORIES,
    "caches": caches.STORIES,
    "transfer": transfer.STORIES,
    "energy": energy.STORIES,
    "cost": cost.STORIES,
    "utilization": utilization.STORIES,
    "health": health.STORIES,
    "stragglers": stragglers.STORIES,
    "gpus": gpus.STORIES,
}
