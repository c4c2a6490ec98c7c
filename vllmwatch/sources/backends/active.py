"""An alert that is on, whoever tells of it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ActiveAlert:
    """An alert that is on.

    `state` is active, suppressed (by a silence or another alert) or unprocessed. `starts_at` is RFC 3339, as the
    program writes it. `silenced_by` has the ids of silences, `inhibited_by` the fingerprints of alerts, `receivers`
    the names of whom it is routed to; Prometheus knows of none of these.
    """

    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    state: str
    starts_at: str
    silenced_by: tuple[str, ...] = ()
    inhibited_by: tuple[str, ...] = ()
    receivers: tuple[str, ...] = ()

    @property
    def is_muted(self) -> bool:
        """Whether a silence or another alert keeps it from being sent."""
        return bool(self.silenced_by or self.inhibited_by)
