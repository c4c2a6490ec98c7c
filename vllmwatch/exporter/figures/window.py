"""What a series did within a window of time, reckoned as Prometheus does; pure.

A window is the samples later than its begin and no later than its end, as in Prometheus 3 (https://prometheus.io/docs/
prometheus/3.0/migration/, range selectors are left-open). Rates are extrapolated as in promql/functions.go,
extrapolatedRate.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

# A sample is missing at an end of the window when none is as near to it as this many times the usual distance.
_MISSING = 1.1


@dataclass(frozen=True, slots=True)
class Window:
    """The samples of one series in a window: `times` (seconds) rise, `values` go with them; `seconds` is its length."""

    times: Sequence[float]
    values: Sequence[float]
    end: float
    seconds: float

    def increase(self) -> float | None:
        """Return by how much a counter rose, extrapolated to the whole window; None with fewer than two samples."""
        return self._extrapolated(is_counter=True)

    def rate(self) -> float | None:
        """Return the increase a second."""
        increase = self.increase()
        return None if increase is None else increase / self.seconds

    def delta(self) -> float | None:
        """Return by how much a gauge rose, extrapolated to the whole window; None with fewer than two samples."""
        return self._extrapolated(is_counter=False)

    def slope(self) -> float | None:
        """Return by how much a gauge rises a second: the line of least squares; None with fewer than two samples."""
        count = len(self.times)
        if count < 2:  # noqa: PLR2004  a line goes through two points
            return None
        middle = sum(self.times) / count
        mean = sum(self.values) / count
        spread = sum((at - middle) ** 2 for at in self.times)
        together = sum((at - middle) * (value - mean) for at, value in zip(self.times, self.values, strict=True))
        return together / spread

    def average(self) -> float | None:
        """Return the mean of the samples; None without any."""
        return sum(self.values) / len(self.values) if self.values else None

    def total(self) -> float | None:
        """Return the sum of the samples; None without any."""
        return sum(self.values) if self.values else None

    def least(self) -> float | None:
        """Return the least of the samples; None without any."""
        return min(self.values, default=None)

    def most(self) -> float | None:
        """Return the greatest of the samples; None without any."""
        return max(self.values, default=None)

    def changes(self) -> int | None:
        """Return how often the value changed; None without samples."""
        return sum(before != after for before, after in pairwise(self.values)) if self.values else None

    def resets(self) -> int | None:
        """Return how often a counter fell; None without samples."""
        return sum(after < before for before, after in pairwise(self.values)) if self.values else None

    def _extrapolated(self, *, is_counter: bool) -> float | None:
        if len(self.times) < 2:  # noqa: PLR2004  a change is between two samples
            return None
        first, last = self.values[0], self.values[-1]
        rise = last - first
        if is_counter:
            rise += sum(before for before, after in pairwise(self.values) if after < before)
        covered = self.times[-1] - self.times[0]
        distance = covered / (len(self.times) - 1)
        to_begin = self.times[0] - (self.end - self.seconds)
        to_end = self.end - self.times[-1]
        if to_begin >= distance * _MISSING:
            to_begin = distance / 2
        if is_counter and rise > 0 and first >= 0:
            # A counter cannot have been below zero.
            to_begin = min(to_begin, covered * first / rise)
        if to_end >= distance * _MISSING:
            to_end = distance / 2
        return rise * (covered + to_begin + to_end) / covered
