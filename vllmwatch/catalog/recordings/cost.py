"""Cost: what a server costs by the prices of the settings, and what a million tokens cost."""

from vllmwatch.catalog.joined import PRICE_GPU_HOUR, PRICE_KILOWATT_HOUR
from vllmwatch.catalog.recordings.energy import ALL_GPUS_READ, RUNNING_NOW, TOKENS
from vllmwatch.catalog.recordings.join import SHARE
from vllmwatch.catalog.recordings.terms import MODEL, ON_WHO, of_server, own, rolled_up
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import PRICE_PER_MILLION_TOKENS, PRICE_PER_SECOND, Group, Recording

_SECONDS_PER_HOUR = "3600"
_JOULES_PER_KILOWATT_HOUR = "3.6e6"
_GPU_PRICE = aggregate("max", ("node",), own(PRICE_GPU_HOUR))
_ENERGY_PRICE = aggregate("max", ("node",), own(PRICE_KILOWATT_HOUR))
_GPU_COST = "vllmwatch:server:gpu_cost_per_second:now"
_ENERGY_COST = "vllmwatch:server:energy_cost_per_second:now"
COST = "vllmwatch:server:cost_per_second:now"
BUSY_COST = "vllmwatch:server:busy_cost_per_second:now"
_MILLION = "1e6"


def _per_second(figure: str, help_text: str, expression: str) -> tuple[Recording, ...]:
    return rolled_up(Recording("server", figure, "now", help_text, PRICE_PER_SECOND, expression))


_COSTS: tuple[Recording, ...] = (
    *_per_second(
        "gpu_cost_per_second",
        "Cost of a server's GPUs by their price an hour, shared ones in part; absent without that price.",
        of_server(f"{SHARE} * on (node) group_left () ({_GPU_PRICE} / {_SECONDS_PER_HOUR})"),
    ),
    *_per_second(
        "energy_cost_per_second",
        "Cost of the energy of a server's GPUs; absent without a price of it, or without a reading of each GPU.",
        of_server(f"({ALL_GPUS_READ})\n* on (node) group_left () ({_ENERGY_PRICE} / {_JOULES_PER_KILOWATT_HOUR})"),
    ),
    *_per_second(
        "cost_per_second",
        "Cost of a server, idle or not: of its GPUs and their energy, or of the one of these that has a price.",
        either(
            f"{_GPU_COST} + {_ENERGY_COST}",
            f"({_GPU_COST} unless on (node) {own(PRICE_KILOWATT_HOUR)})",
            f"({_ENERGY_COST} unless on (node) {own(PRICE_GPU_HOUR)})",
        ),
    ),
    *_per_second(
        "busy_cost_per_second",
        "Cost of a server at moments in which any request runs, 0 at others.",
        f"{COST} * {ON_WHO} group_left () ({RUNNING_NOW} > bool 0)",
    ),
)


def _over_window(cost: str, tokens: str, window: str) -> tuple[str, str]:
    """Return what is spent and what tokens there are, in the same measure of time.

    Over an hour both are sums over the moments at which there are figures, so that a server that is younger than
    the hour, or was away for a part of it, is charged and credited for the same time.
    """
    rate = f"vllmwatch:server:{tokens}:rate5m"
    if window == "5m":
        return f"(avg_over_time({cost}[5m]) and {cost} offset 5m)", rate
    return f"sum_over_time({cost}[{window}])", f"sum_over_time({rate}[{window}])"


def _per_million(prefix: str, cost: str, help_text: str, tokens: str, window: str) -> tuple[Recording, ...]:
    spent, made = _over_window(cost, tokens, window)
    figure, how = f"{prefix}cost_per_million_{tokens}", f"avg{window}"
    sums = [aggregate("sum", MODEL, f"{first} and {second}") for first, second in ((spent, made), (made, spent))]
    expressions = (
        ("server", f"{_MILLION} * {spent} / ({made} > 0)"),
        ("model", f"{_MILLION} * {sums[0]}\n/\n({sums[1]} > 0)"),
    )
    return tuple(
        Recording(level, figure, how, help_text, PRICE_PER_MILLION_TOKENS, expression)
        for level, expression in expressions
    )


def _all_per_million() -> tuple[Recording, ...]:
    recordings: list[Recording] = []
    for _, tokens in TOKENS:
        what = "tokens of prompts and answers" if tokens == "tokens" else "tokens of answers"
        for window in ("5m", "1h"):
            for prefix, cost, time in (
                ("", COST, "all cost, that of idle time too"),
                ("busy_", BUSY_COST, "cost of busy time alone"),
            ):
                help_text = f"Cost of a million {what}: {time}; absent without tokens."
                recordings += _per_million(prefix, cost, help_text, tokens, window)
    return tuple(recordings)


# At the interval of the traffic, whose sums over an hour stand below those of the cost.
GROUP = Group("cost", "What servers and a million tokens cost.", 15, (*_COSTS, *_all_per_million()))
