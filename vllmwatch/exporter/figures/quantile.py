"""A quantile of a histogram, reckoned as Prometheus does (promql/quantile.go, bucketQuantile); pure."""

import math
from bisect import bisect_left
from collections.abc import Mapping
from itertools import accumulate


def histogram_quantile(quantile: float, buckets: Mapping[float, float]) -> float | None:
    """Return the quantile by the counts at or below each upper edge; None without a bucket +Inf or observations.

    Within a bucket values are taken to be spread evenly; above the last finite edge the answer is that edge.
    """
    edges = sorted(buckets)
    if len(edges) < 2 or edges[-1] != math.inf:  # noqa: PLR2004  +Inf and one more
        return None
    counts = list(accumulate((buckets[edge] for edge in edges), max))
    if not counts[-1] > 0:
        return None
    rank = quantile * counts[-1]
    place = bisect_left(counts, rank, hi=len(counts) - 1)
    if place == len(edges) - 1:
        return edges[-2]
    if place == 0 and edges[0] <= 0:
        return edges[0]
    low, below = (edges[place - 1], counts[place - 1]) if place else (0.0, 0.0)
    return low + (edges[place] - low) * (rank - below) / (counts[place] - below)
