"""The board of efficiency and cost: what a token takes of energy and money, what lies idle, how well cards are used."""

from vllmwatch.catalog.boards._words import MODEL, NODE, Scope, lines, number, row
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import NO_TRAFFIC, Dashboard, Limits, Query
from vllmwatch.spec.unit import NUMBER

_SCOPE = Scope((NODE, MODEL))
_NO_PRICE = "No prices in the settings, or no traffic"
_NO_JOIN = "Its GPUs are not known; see docs/join.md"
_TOKENS = "vllmwatch:model:tokens:rate5m"
_POWER = "vllmwatch:model:power_watts:avg1m"
_COST = "vllmwatch:model:cost_per_second:now"


def _per(part: str, whole: str) -> Query:
    """Ask for one figure of a model divided by another."""
    tokens, spent = (f"max by (model_name) ({_SCOPE.select(name)})" for name in (part, whole))
    return Query(f"topk($most, {tokens} / ({spent} > 0))", ("model_name",), "{{model_name}}")


_MONEY = row(
    "What does a token cost?",
    number(
        "What does an hour cost?",
        Query(f"3600 * sum(max by (model_name) ({_SCOPE.select(_COST)}))", ()),
        of=(_COST,),
        also="Of all models, for an hour like this second.",
        unit=NUMBER,
        no_data="No prices in the settings",
        width=6,
    ),
    number(
        "How much power is drawn?",
        _SCOPE.total(_POWER),
        of=(_POWER,),
        no_data=_NO_JOIN,
        width=6,
    ),
    number(
        "How many GPUs do all models hold?",
        _SCOPE.total("vllmwatch:model:held_gpus:sum"),
        of=("vllmwatch:model:held_gpus:sum",),
        no_data=_NO_JOIN,
        width=6,
    ),
    number(
        "How many GPUs serve nothing?",
        _SCOPE.total("vllmwatch:node:unused_gpus:sum30m"),
        of=("vllmwatch:node:unused_gpus:sum30m",),
        no_data="None known",
        width=6,
        limits=Limits(care_above=0.0),
        alerts=("GpuHeldIdle",),
    ),
    lines(
        "What do a million tokens cost?",
        _SCOPE.highest("vllmwatch:model:cost_per_million_tokens:avg5m", word="all time"),
        _SCOPE.highest("vllmwatch:model:busy_cost_per_million_tokens:avg5m", word="busy time"),
        of=("vllmwatch:model:cost_per_million_tokens:avg5m", "vllmwatch:model:busy_cost_per_million_tokens:avg5m"),
        also="What lies between the two is the cost of waiting for requests.",
        no_data=_NO_PRICE,
    ),
    lines(
        "What do a million tokens of answers cost?",
        _SCOPE.highest("vllmwatch:model:cost_per_million_generation_tokens:avg5m"),
        of=("vllmwatch:model:cost_per_million_generation_tokens:avg5m",),
        no_data=_NO_PRICE,
    ),
    lines(
        "How many tokens does a unit of money buy?",
        _per(_TOKENS, _COST),
        of=(_TOKENS, _COST),
        unit=NUMBER,
        no_data=_NO_PRICE,
    ),
)
_ENERGY = row(
    "What does a token take of energy?",
    lines(
        "How much energy does a token take?",
        _SCOPE.highest("vllmwatch:model:energy_per_token_joules:avg5m"),
        of=("vllmwatch:model:energy_per_token_joules:avg5m",),
        no_data=NO_TRAFFIC,
    ),
    lines(
        "How many tokens does a joule give?",
        _per(_TOKENS, _POWER),
        of=(_TOKENS, _POWER),
        unit=NUMBER,
        no_data=NO_TRAFFIC,
    ),
    lines(
        "How much power does each model draw?",
        _SCOPE.highest(_POWER),
        of=(_POWER,),
        no_data=_NO_JOIN,
        stacked=True,
    ),
)
_IDLE = row(
    "What lies idle?",
    lines(
        "Which share of the energy is drawn while nothing runs?",
        _SCOPE.highest("vllmwatch:model:energy_idle:ratio_avg1h"),
        of=("vllmwatch:model:energy_idle:ratio_avg1h",),
        no_data=_NO_JOIN,
        at_most_one=True,
    ),
    lines(
        "Which servers hold GPUs and serve nothing?",
        _SCOPE.highest("vllmwatch:server:unused_gpus:sum30m"),
        of=("vllmwatch:server:unused_gpus:sum30m",),
        no_data="None, or their GPUs are not known",
        alerts=("GpuHeldIdle",),
    ),
    lines(
        "How many GPUs does each model hold?",
        _SCOPE.highest("vllmwatch:model:held_gpus:sum"),
        of=("vllmwatch:model:held_gpus:sum",),
        no_data=_NO_JOIN,
        stacked=True,
    ),
)
_USED = row(
    "How well are the cards used?",
    lines(
        "Which share of its card's operations does each engine use?",
        _SCOPE.highest("vllmwatch:engine:flops_utilization:ratio_rate5m"),
        of=("vllmwatch:engine:flops_utilization:ratio_rate5m",),
        also="MFU, by vLLM's own estimate (--enable-mfu-metrics).",
        no_data="The server does not estimate it (--enable-mfu-metrics)",
        width=12,
        at_most_one=True,
    ),
    lines(
        "Which share of its memory's speed does each engine use?",
        _SCOPE.highest("vllmwatch:engine:memory_bandwidth_utilization:ratio_rate5m"),
        of=("vllmwatch:engine:memory_bandwidth_utilization:ratio_rate5m",),
        also="MBU, by vLLM's own estimate (--enable-mfu-metrics).",
        no_data="The server does not estimate it (--enable-mfu-metrics)",
        width=12,
        at_most_one=True,
    ),
)

BOARD = Dashboard(
    Board.COST,
    "vLLM efficiency and cost",
    "What does a token cost, and what do we pay for that does nothing?",
    _SCOPE.variables,
    (_MONEY, _ENERGY, _IDLE, _USED),
)
