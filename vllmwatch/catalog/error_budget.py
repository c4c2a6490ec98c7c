"""Error budgets: how fast one is used up, over a long window for weight and a short one that tells when it is over.

The rates are those of the SRE workbook, chapter 5 (Alerting on SLOs), for a budget of 30 days: 14.4 times as fast as
it lasts uses 2 % of it in an hour, 6 times as fast 5 % in 6 hours, once as fast 10 % in 3 days.
"""

# A loose objective cannot be missed so many times as fast (90 % ten times at most); then nearly all failing is enough.
_NEARLY_ALL = 0.95


def burning(shares: str, errors: str, least_1h: int, least_6h: int) -> str:
    """Return when the budget of an objective burns so fast that somebody is to be woken.

    `shares` and `errors` name recordings of a model up to their window; `least_1h` and `least_6h` are the errors below
    which nothing is said of an hour and of six.
    """
    return (
        f"(\n{shares}1h{{<models>}} > {_times_as_fast(14.4)}\n"
        f"and {shares}5m{{<models>}} > {_times_as_fast(14.4)}\n"
        f"and {errors}1h{{<models>}} >= {least_1h}\n)\n"
        "or\n"
        f"(\n{shares}6h{{<models>}} > {_times_as_fast(6)}\n"
        f"and {shares}30m{{<models>}} > {_times_as_fast(6)}\n"
        f"and {errors}6h{{<models>}} >= {least_6h}\n)"
    )


def _times_as_fast(rate: float) -> str:
    return f"scalar(clamp_max(vector({rate:g} * (1 - <threshold>)), {_NEARLY_ALL}))"
