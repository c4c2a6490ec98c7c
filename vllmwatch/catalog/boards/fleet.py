"""The board of the fleet: is it up and well, who hurts, since when, what is done, where is it full, what it costs."""

from typing import Any

from vllmwatch.catalog.boards._states import FIRING, KNOWN_SERVERS, STATES, of_models, of_servers, up
from vllmwatch.catalog.boards._words import (
    AGO,
    MODEL,
    MOST,
    NO_LIMITS,
    NODE,
    Scope,
    among,
    column,
    lines,
    number,
    panel,
    row,
)
from vllmwatch.catalog.thresholds import (
    FIRST_TOKEN_OBJECTIVE,
    GPU_TEMPERATURE,
    KV_CACHE_USAGE,
    REQUEST_OBJECTIVE,
)
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import NO_TRAFFIC, NONE_FOUND, Color, Dashboard, Limits, Look, Panel, Query, Value
from vllmwatch.spec.recording import PRICE_PER_MILLION_TOKENS, REQUESTS_PER_SECOND, TOKENS_PER_SECOND
from vllmwatch.spec.unit import COUNT, NUMBER, RATIO, Unit

_SCOPE = Scope((NODE, MODEL))
_WHAT = ("severity", "alertname", "model_name", "server", "engine", "node", "uuid")
_NOT_WATCHDOG = 'alertname!="Watchdog"'
_SLOW = Limits(care_above=0.005, bad_above=0.01)
_KNOWN = _SCOPE.select(KNOWN_SERVERS)
_UP = up(_SCOPE)
_OF_MODELS = of_models(_SCOPE)
_OF_SERVERS = of_servers(_SCOPE)


def _of_model(figure: str, heading: str, unit: Unit, limits: Limits = NO_LIMITS) -> Query:
    return column(among(_SCOPE.highest(figure), _OF_MODELS), heading, unit, limits)


def _of_server(figure: str, heading: str, unit: Unit, limits: Limits = NO_LIMITS) -> Query:
    return column(among(_SCOPE.highest(figure), _OF_SERVERS), heading, unit, limits)


def _counted(title: str, expression: str, said: str, **craft: Any) -> Panel:
    return number(title, Query(expression, ()), also=said, unit=COUNT, **craft)


def _alerts(severity: str) -> str:
    """Count alerts: 0 where rules are evaluated and none fires, nothing where nobody knows."""
    firing = _SCOPE.select("ALERTS", FIRING, f'severity="{severity}"')
    return f"count(group by (alertname, node, server, model_name, uuid) ({firing})) or count({_KNOWN}) * 0"


def _budget_used(figure: str, threshold: str) -> Query:
    selector = _SCOPE.select(figure, "<models>")
    expression = f"topk({MOST}, max by (model_name) ({selector}) / (1 - <threshold>))"
    return Query(expression, ("model_name",), "{{model_name}}", threshold=threshold)


_WELL = row(
    "Is it up and well?",
    _counted(
        "How many pages fire?",
        _alerts("page"),
        "Alerts for which a person is woken, muted ones included.",
        limits=Limits(bad_above=0),
    ),
    _counted(
        "How many tickets fire?",
        _alerts("ticket"),
        "Alerts that can wait until the morning, muted ones included.",
        limits=Limits(care_above=0),
    ),
    _counted("How many servers are up?", f"sum({_UP})", "Servers of vLLM that give their page."),
    _counted(
        "How many servers are down?",
        f"count({_UP}) - sum({_UP})",
        "Servers that are watched and give no page, those that load their model included.",
        alerts=("VllmServerDown", "VllmServerNeverUp", "VllmServersMissing", "VllmCrashLooping"),
        limits=Limits(care_above=0),
    ),
    number(
        "How many GPUs answer?",
        _SCOPE.total("vllmwatch:node:gpus_up:count"),
        of=("vllmwatch:node:gpus_up:count",),
        alerts=("GpuLost", "GpuCountLow"),
    ),
    number(
        "How many GPUs serve nothing?",
        _SCOPE.total("vllmwatch:node:unused_gpus:sum30m"),
        of=("vllmwatch:node:unused_gpus:sum30m",),
        no_data="None known",
        alerts=("GpuHeldIdle",),
        limits=Limits(care_above=0),
    ),
    panel(
        "How is each model?",
        Look.TABLE,
        column(_OF_MODELS, "State", NUMBER),
        _of_model("vllmwatch:model:requests_with_first_token:rate5m", "Requests a second", REQUESTS_PER_SECOND),
        _of_model("vllmwatch:model:generation_tokens:rate5m", "Tokens a second", TOKENS_PER_SECOND),
        _of_model("vllmwatch:model:request_latency_slow:ratio_increase10m", "Slow requests", RATIO, _SLOW),
        _of_model("vllmwatch:model:requests_in_error:ratio_increase5m", "Errors", RATIO, Limits(bad_above=0.02)),
        _of_model("vllmwatch:model:requests_running:sum", "Running", COUNT),
        _of_model("vllmwatch:model:requests_waiting:sum", "Waiting", COUNT),
        _of_model(
            "vllmwatch:model:kv_cache_usage_ratio:max", "Fullest KV cache", RATIO, Limits(care_above=KV_CACHE_USAGE.key)
        ),
        of=("vllmwatch:server:info:now",),
        also="Each model, the worst first: a page fires for it, a ticket does, or all is well.",
        width=24,
        unit=NUMBER,
        values=STATES,
        alerts=("ModelWithoutServer", "AvailabilityBudgetBurning"),
    ),
    panel(
        "How is each server?",
        Look.TABLE,
        column(_OF_SERVERS, "State", NUMBER),
        _of_server("vllmwatch:server:generation_tokens:rate5m", "Tokens a second", TOKENS_PER_SECOND),
        _of_server("vllmwatch:server:request_latency_slow:ratio_increase10m", "Slow requests", RATIO, _SLOW),
        _of_server("vllmwatch:server:requests_running:sum", "Running", COUNT),
        _of_server("vllmwatch:server:requests_waiting:sum", "Waiting", COUNT),
        _of_server(
            "vllmwatch:server:kv_cache_usage_ratio:max",
            "Fullest KV cache",
            RATIO,
            Limits(care_above=KV_CACHE_USAGE.key),
        ),
        _of_server("vllmwatch:server:restarts:increase1h", "Restarts in an hour", COUNT, Limits(care_above=0)),
        _of_server("vllmwatch:server:held_gpus:sum", "GPUs", COUNT),
        also="Each server, the worst first; as many as the variable Most says.",
        width=24,
        height=10,
        unit=NUMBER,
        values=STATES,
        alerts=("VllmServerDown", "VllmEngineStuck", "VllmSchedulerStalled", "VllmAsleepWithTraffic"),
    ),
)
_HURT = row(
    "Who hurts?",
    lines(
        "Which models are slower than they may be?",
        _SCOPE.highest("vllmwatch:model:request_latency_slow:ratio_increase10m"),
        of=("vllmwatch:model:request_latency_slow:ratio_increase10m",),
        also="Above 1 % the 99th percentile is above request_latency_p99_seconds.",
        no_data=NO_TRAFFIC,
        alerts=("RequestLatencyP99High", "LatencyEdgeMissing"),
        limits=Limits(bad_above=0.01),
    ),
    lines(
        "Which models let users wait for the first token?",
        _SCOPE.highest("vllmwatch:model:time_to_first_token_slow:ratio_increase10m"),
        of=("vllmwatch:model:time_to_first_token_slow:ratio_increase10m",),
        also="Above 1 % the 99th percentile is above time_to_first_token_p99_seconds.",
        no_data=NO_TRAFFIC,
        alerts=("TimeToFirstTokenP99High",),
        limits=Limits(bad_above=0.01),
    ),
    lines(
        "Which models fail?",
        _SCOPE.highest("vllmwatch:model:requests_in_error:ratio_increase5m"),
        of=("vllmwatch:model:requests_in_error:ratio_increase5m",),
        no_data=NO_TRAFFIC,
        alerts=("AvailabilityBudgetBurning", "VllmRequestErrorsHigh", "VllmHttpErrorsHigh"),
        limits=Limits(bad_above=0.02),
    ),
    lines(
        "How fast is the error budget of latency used?",
        _budget_used("vllmwatch:model:request_latency_slow:ratio_increase6h", REQUEST_OBJECTIVE.key),
        of=("vllmwatch:model:request_latency_slow:ratio_increase6h",),
        also="Divided by what request_latency_objective_ratio allows: at 1 the budget of 30 days lasts 30 days.",
        unit=NUMBER,
        no_data=NO_TRAFFIC,
        alerts=("RequestLatencyBudgetBurning",),
        limits=Limits(care_above=1.0, bad_above=6.0),
    ),
    lines(
        "How fast is that of the first token used?",
        _budget_used("vllmwatch:model:time_to_first_token_slow:ratio_increase6h", FIRST_TOKEN_OBJECTIVE.key),
        of=("vllmwatch:model:time_to_first_token_slow:ratio_increase6h",),
        also="Divided by what time_to_first_token_objective_ratio allows.",
        unit=NUMBER,
        no_data=NO_TRAFFIC,
        alerts=("TimeToFirstTokenBudgetBurning",),
        limits=Limits(care_above=1.0, bad_above=6.0),
    ),
    lines(
        "Who is refused, and who gives up?",
        _SCOPE.highest("vllmwatch:model:requests_rejected:rate5m", word="refused"),
        _SCOPE.highest("vllmwatch:model:requests_aborted_estimate:increase15m", word="given up in 15 minutes"),
        of=("vllmwatch:model:requests_rejected:rate5m", "vllmwatch:model:requests_aborted_estimate:increase15m"),
        unit=NUMBER,
        no_data=NO_TRAFFIC,
        alerts=("RequestsRejected", "RequestsAbandoned"),
    ),
)
_SINCE = row(
    "Since when?",
    panel(
        "What fires now?",
        Look.TABLE,
        column(
            Query(
                f"topk({MOST}, min by ({', '.join(_WHAT)}) ({_SCOPE.select('ALERTS_FOR_STATE', _NOT_WATCHDOG)} "
                f"and ignoring (alertstate) {_SCOPE.select('ALERTS', FIRING)}) * 1000)",
                _WHAT,
            ),
            "Since",
            AGO,
        ),
        of=("ALERTS", "ALERTS_FOR_STATE"),
        also="The youngest first.",
        width=12,
        unit=NUMBER,
        no_data=NONE_FOUND,
    ),
    panel(
        "When did what fire?",
        Look.STATES,
        Query(
            f"topk($most, max by (alertname) ({_SCOPE.select('ALERTS', FIRING, _NOT_WATCHDOG)}))",
            ("alertname",),
            "{{alertname}}",
        ),
        of=("ALERTS",),
        width=12,
        unit=NUMBER,
        no_data=NONE_FOUND,
        values={1.0: Value("firing", Color.BAD)},
    ),
)
_WORK = row(
    "How much is done?",
    lines(
        "How many requests does each model begin to answer?",
        _SCOPE.highest("vllmwatch:model:requests_with_first_token:rate5m"),
        of=("vllmwatch:model:requests_with_first_token:rate5m",),
        stacked=True,
    ),
    lines(
        "How many tokens does each model write?",
        _SCOPE.highest("vllmwatch:model:generation_tokens:rate5m"),
        of=("vllmwatch:model:generation_tokens:rate5m",),
        stacked=True,
    ),
    lines(
        "How many tokens does each model read?",
        _SCOPE.highest("vllmwatch:model:prompt_tokens:rate5m"),
        of=("vllmwatch:model:prompt_tokens:rate5m",),
        stacked=True,
    ),
)
_FULL = row(
    "Where is it full?",
    panel(
        "How full is the KV cache of each engine?",
        Look.HISTORY,
        _SCOPE.highest("vllmwatch:engine:kv_cache_usage_ratio:max"),
        of=("vllmwatch:engine:kv_cache_usage_ratio:max",),
        width=12,
        height=10,
        at_most_one=True,
        alerts=("KvCacheUsageHigh", "KvCacheExhausted", "KvCacheExhaustionSoon"),
        limits=Limits(care_above=0.7, bad_above=KV_CACHE_USAGE.key),
    ),
    panel(
        "How long is the queue of each engine?",
        Look.HISTORY,
        _SCOPE.highest("vllmwatch:engine:requests_waiting:max"),
        of=("vllmwatch:engine:requests_waiting:max",),
        width=12,
        height=10,
        alerts=("QueueGrowing", "QueueTimeHigh"),
        limits=Limits(care_above=0.0, bad_above=20.0),
    ),
)
_HEAT = row(
    "How do the GPUs stand it?",
    panel(
        "How hot is each GPU?",
        Look.HISTORY,
        _SCOPE.highest("vllmwatch_gpu_temperature_celsius"),
        of=("vllmwatch_gpu_temperature_celsius",),
        width=12,
        height=10,
        alerts=("GpuTemperatureHigh", "GpuNearSlowdown"),
        limits=Limits(care_above=75.0, bad_above=GPU_TEMPERATURE.key),
    ),
    panel(
        "How much power does each GPU draw?",
        Look.HISTORY,
        _SCOPE.highest("vllmwatch_gpu_power_watts"),
        of=("vllmwatch_gpu_power_watts",),
        width=12,
        height=10,
    ),
)
_COST = row(
    "What does it cost?",
    lines(
        "What do a million tokens of each model cost?",
        _SCOPE.highest("vllmwatch:model:cost_per_million_tokens:avg1h"),
        of=("vllmwatch:model:cost_per_million_tokens:avg1h",),
        unit=PRICE_PER_MILLION_TOKENS,
        width=12,
        no_data="No prices in the settings, or no traffic",
    ),
    lines(
        "How much energy does a token of each model take?",
        _SCOPE.highest("vllmwatch:model:energy_per_token_joules:avg5m"),
        of=("vllmwatch:model:energy_per_token_joules:avg5m",),
        width=12,
        no_data=NO_TRAFFIC,
    ),
)

BOARD = Dashboard(
    Board.FLEET,
    "vLLM fleet",
    "Is the fleet up and well, and if not, who hurts and since when?",
    _SCOPE.variables,
    (_WELL, _HURT, _SINCE, _WORK, _FULL, _HEAT, _COST),
)
