"""Recordings: one steady layer of figures on which alerts and boards lean; only these rules know vLLM's names."""

from vllmwatch.catalog.recordings import (
    cost,
    energy,
    health,
    join,
    latency,
    saturation,
    stragglers,
    traffic,
    utilization,
)
from vllmwatch.spec.recording import Group

# In this order: a group leans on those before it.
RECORDINGS: tuple[Group, ...] = (
    join.GROUP,
    traffic.GROUP,
    latency.GROUP,
    saturation.GROUP,
    energy.GROUP,
    cost.GROUP,
    utilization.GROUP,
    health.GROUP,
    stragglers.GROUP,
)
