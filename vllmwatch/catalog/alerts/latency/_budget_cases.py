"""Cases of the alerts on budgets of latency: much of one in an hour, or less of it in six."""

from vllmwatch.catalog.alerts.latency._series import OF_MODEL, timed
from vllmwatch.catalog.latencies import Latency
from vllmwatch.spec.case import Case, at, fires, messy, quiet
from vllmwatch.spec.story import Series

# An hour later these have left the window of an hour, and keep the share of six hours small.
_MANY_GOOD = (10.0, 0.0, "14m")


def cases_of_burning(latency: Latency, edge: str, budget: float) -> tuple[Case, ...]:
    """Return the cases for a budget, where an hour needs 20 slow ones and six hours 50."""
    fast, slow = 14.4 * budget, 6 * budget
    between = (fast + slow) / 2
    most = min(2 * fast, 0.85)
    return (
        fires(
            f"an hour in which {most:.0%} are slow, after many that were not; quiet when five minutes are good",
            *timed(latency, edge, _MANY_GOOD, (0.01 / most, 0.01, "80m"), (0.01 / most, 0, "20m"), begin=9000),
            at("70m"),
            at("80m", OF_MODEL),
            at("102m"),
        ),
        fires(
            f"{between:.0%} are slow, as soon as fifty of them are; quiet when half an hour is good",
            *timed(latency, edge, (0.02 / between, 0.02, "61m"), (0.02 / between, 0, "45m")),
            at("35m"),
            at("46m"),
            at("60m", OF_MODEL),
            at("100m"),
        ),
        quiet(
            f"{0.9 * fast:.0%} are slow in the hour; all of fourteen; a little less than six times as fast",
            *timed(latency, edge, _MANY_GOOD, (0.05, 0.045 * fast, "80m"), model_name="less fast"),
            *timed(latency, edge, _MANY_GOOD, (0.004, 0.004, "80m"), model_name="fourteen"),
            *timed(latency, edge, (1, 5 * budget, "94m"), model_name="less slow"),
            at("80m"),
            at("92m"),
        ),
        messy(
            "no traffic, one request, a restart, and fourteen slow ones that are scraped twice",
            *timed(latency, edge, (0, 0, "90m"), model_name="idle"),
            *timed(latency, edge, (0, 0, "70m"), (1 / 14, 1 / 14, "14s"), (0, 0, "20m"), model_name="one"),
            *timed(latency, edge, (0.004, 0.004, "90m"), model_name="twice"),
            *timed(latency, edge, (0.004, 0.004, "90m"), model_name="twice", job="again"),
            *(
                Series(each.selector, f"{each.values} {each.values}")
                for each in timed(latency, edge, (3, 0, "45m"), model_name="restarted")
            ),
            at("50m"),
            at("75m"),
            at("88m"),
        ),
    )
