"""Recordings: one steady layer of figures on which alerts and boards lean; only these rules know vLLM's names."""

from vllmwatch.catalog.objectives import objectives
from vllmwatch.catalog.recordings import (
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
from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.spec.recording import Group
from vllmwatch.spec.threshold import Thresholds


def recordings(thresholds: Thresholds) -> tuple[Group, ...]:
    """Return the groups of recordings, where latencies are counted at the thresholds in force.

    They are in this order since a group leans on those before it.
    """
    return (
        join.GROUP,
        traffic.GROUP,
        latency.latency_group(objectives(thresholds)),
        life.GROUP,
        errors.GROUP,
        saturation.GROUP,
        sleep.GROUP,
        caches.GROUP,
        transfer.GROUP,
        energy.GROUP,
        cost.GROUP,
        utilization.GROUP,
        health.GROUP,
        stragglers.GROUP,
        gpus.GROUP,
    )


RECORDINGS: tuple[Group, ...] = recordings(DEFAULTS)
"""Those at the thresholds that hold unless the settings say otherwise."""
