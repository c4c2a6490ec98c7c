"""The board of models, servers and engines: latency, the life of a request, work, room, errors, and what changed."""

from vllmwatch.catalog.boards._words import ENGINE, MODEL, NODE, SERVER, Scope, column, lines, panel, row
from vllmwatch.catalog.thresholds import KV_CACHE_USAGE
from vllmwatch.spec.alert import Board
from vllmwatch.spec.board import NO_TRAFFIC, NONE_FOUND, Color, Dashboard, Limits, Look, Query, Value
from vllmwatch.spec.unit import NUMBER, SECONDS

_SCOPE = Scope((NODE, MODEL, SERVER, ENGINE))
_FIRING = ('alertstate="firing"', 'alertname!="Watchdog"')
_SLOW = Limits(bad_above=0.01)
_ONE_IN_A_HUNDRED = "Above 1 % the 99th percentile is above the threshold."
_GUESSED = "Interpolated within a bucket, for the eye alone; alerts count at an edge."
_LATENCIES = (
    ("request_latency", "requests", "a whole request", "RequestLatencyP99High"),
    ("time_to_first_token", "first tokens", "the first token", "TimeToFirstTokenP99High"),
    ("inter_token_latency", "output steps", "an output step", "InterTokenLatencyP99High"),
)

_WELL = row(
    "Is it up and well?",
    panel(
        "When was each server up?",
        Look.STATES,
        _SCOPE.lowest("vllmwatch_target_up", each="max"),
        of=("vllmwatch_target_up",),
        width=12,
        unit=NUMBER,
        values={0.0: Value("down", Color.BAD), 1.0: Value("up", Color.WELL)},
        alerts=("VllmServerDown", "VllmServerNeverUp", "VllmCrashLooping"),
    ),
    panel(
        "Why does a server give no page?",
        Look.STATES,
        _SCOPE.highest("vllmwatch_target_error"),
        of=("vllmwatch_target_error",),
        also="What each reason means is in the runbook.",
        width=12,
        unit=NUMBER,
        no_data=NONE_FOUND,
        values={1.0: Value("so it is", Color.BAD)},
        alerts=("VllmServerDown",),
    ),
    lines(
        "Which engines have requests and do nothing?",
        _SCOPE.highest("vllmwatch:engine:requests_stuck:min2m", word="stuck"),
        _SCOPE.highest("vllmwatch:engine:requests_stalled:min2m", word="stalled"),
        _SCOPE.highest("vllmwatch:engine:requests_asleep:now", word="asleep"),
        of=(
            "vllmwatch:engine:requests_stuck:min2m",
            "vllmwatch:engine:requests_stalled:min2m",
            "vllmwatch:engine:requests_asleep:now",
        ),
        no_data=NONE_FOUND,
        alerts=("VllmEngineStuck", "VllmSchedulerStalled", "VllmAsleepWithTraffic"),
    ),
    lines(
        "How often did each server start?",
        _SCOPE.highest("vllmwatch:server:restarts:increase1h"),
        of=("vllmwatch:server:restarts:increase1h",),
        alerts=("VllmCrashLooping",),
    ),
    panel(
        "What fires?",
        Look.STATES,
        Query(
            f"topk($most, max by (alertname, model_name, server) ({_SCOPE.alerts(*_FIRING)}))",
            ("alertname", "model_name", "server"),
            "{{alertname}} {{model_name}} {{server}}",
        ),
        of=("ALERTS",),
        also="Those about the model or the node as a whole included.",
        unit=NUMBER,
        no_data=NONE_FOUND,
        values={1.0: Value("firing", Color.BAD)},
    ),
)
_LATENCY = row(
    "Who waits, and for how long?",
    *(
        lines(
            f"Which share of {what} is too slow?",
            _SCOPE.highest(f"vllmwatch:server:{word}_slow:ratio_increase10m"),
            of=(f"vllmwatch:server:{word}_slow:ratio_increase10m",),
            also=_ONE_IN_A_HUNDRED,
            no_data=NO_TRAFFIC,
            limits=_SLOW,
            alerts=(alert, "LatencyEdgeMissing"),
        )
        for word, what, _, alert in _LATENCIES
    ),
    *(
        lines(
            f"How long does {what} take?",
            *(_SCOPE.highest(f"vllmwatch:server:{word}_seconds:{how}_5m", word=how) for how in ("p50", "p90", "p99")),
            of=(f"vllmwatch:server:{word}_seconds:p99_5m",),
            also=_GUESSED,
            unit=SECONDS,
            no_data=NO_TRAFFIC,
            alerts=(alert,),
        )
        for word, _, what, alert in _LATENCIES
    ),
    *(
        panel(
            f"How is the time of {what} spread?",
            Look.HEAT,
            Query(
                f"sum by (le) ({_SCOPE.select(f'vllmwatch:server:{word}_bucket:rate5m')})",
                ("le",),
                "{{le}}",
            ),
            of=(f"vllmwatch:server:{word}_bucket:rate5m",),
            also="Each column is a moment, each line a bucket of vLLM's histogram.",
            unit=SECONDS,
            no_data=NO_TRAFFIC,
        )
        for word, _, what, _ in _LATENCIES
    ),
)
_LIFE = row(
    "Why? The life of a request",
    lines(
        "Where does the time go?",
        _SCOPE.total("vllmwatch:server:request_phase_seconds:avg5m", by=("phase", "server"), operator="max"),
        of=("vllmwatch:server:request_phase_seconds:avg5m",),
        also="Queue: servers are full. Prefill: prompts are long, caches miss. Decode: answers are long, steps slow.",
        no_data=NO_TRAFFIC,
        alerts=("QueueTimeHigh",),
    ),
    lines(
        "How long are prompts and answers?",
        _SCOPE.highest("vllmwatch:server:request_prompt_tokens:avg5m", word="prompt"),
        _SCOPE.highest("vllmwatch:server:request_generation_tokens:avg5m", word="answer"),
        of=("vllmwatch:server:request_prompt_tokens:avg5m", "vllmwatch:server:request_generation_tokens:avg5m"),
        no_data=NO_TRAFFIC,
    ),
    lines(
        "How do requests end?",
        _SCOPE.total("vllmwatch:server:requests_finished:rate5m", by=("finished_reason",)),
        of=("vllmwatch:server:requests_finished:rate5m",),
        no_data=NO_TRAFFIC,
        stacked=True,
        alerts=("VllmRequestErrorsHigh",),
    ),
    lines(
        "Which share of requests fails?",
        _SCOPE.highest("vllmwatch:server:requests_failed:ratio_increase10m", word="within the engine"),
        _SCOPE.highest("vllmwatch:server:http_errors:ratio_increase10m", word="by HTTP"),
        of=("vllmwatch:server:requests_failed:ratio_increase10m", "vllmwatch:server:http_errors:ratio_increase10m"),
        no_data=NO_TRAFFIC,
        limits=Limits(bad_above=0.02),
        alerts=("VllmRequestErrorsHigh", "VllmHttpErrorsHigh"),
    ),
    lines(
        "How many are refused?",
        _SCOPE.highest("vllmwatch:server:requests_rejected:rate5m"),
        of=("vllmwatch:server:requests_rejected:rate5m",),
        no_data=NO_TRAFFIC,
        alerts=("RequestsRejected",),
    ),
    lines(
        "How many are given up by their clients?",
        _SCOPE.highest("vllmwatch:server:requests_aborted_estimate:increase15m"),
        of=("vllmwatch:server:requests_aborted_estimate:increase15m",),
        no_data=NO_TRAFFIC,
        alerts=("RequestsAbandoned",),
    ),
)
_WORK = row(
    "How much is done?",
    lines(
        "How many tokens does each engine write?",
        _SCOPE.highest("vllmwatch:engine:generation_tokens:rate5m"),
        of=("vllmwatch:engine:generation_tokens:rate5m",),
        also="One engine below its like may have a slow GPU.",
        alerts=("GpuStraggler",),
    ),
    lines(
        "How many tokens of prompts does each engine compute?",
        _SCOPE.highest("vllmwatch:engine:computed_prompt_tokens:rate5m"),
        of=("vllmwatch:engine:computed_prompt_tokens:rate5m",),
    ),
    lines(
        "How many requests run at once?",
        _SCOPE.highest("vllmwatch:engine:requests_running:max"),
        of=("vllmwatch:engine:requests_running:max",),
    ),
    lines(
        "How many tokens does a step hold?",
        _SCOPE.highest("vllmwatch:engine:step_tokens:avg5m"),
        of=("vllmwatch:engine:step_tokens:avg5m",),
        no_data=NO_TRAFFIC,
    ),
    lines(
        "Which share of prompts comes from a cache?",
        _SCOPE.highest("vllmwatch:engine:cached_prompt_tokens:ratio_rate5m"),
        of=("vllmwatch:engine:cached_prompt_tokens:ratio_rate5m",),
        no_data=NO_TRAFFIC,
        at_most_one=True,
        alerts=("PrefixCacheHitsDropped",),
    ),
    lines(
        "How well does speculation guess?",
        _SCOPE.highest("vllmwatch:engine:accepted_draft_tokens:ratio_rate5m"),
        of=("vllmwatch:engine:accepted_draft_tokens:ratio_rate5m",),
        no_data="No speculation, or no traffic",
        at_most_one=True,
        alerts=("SpeculationAcceptanceDropped",),
    ),
)
_ROOM = row(
    "How much room is left?",
    lines(
        "How full is the KV cache?",
        _SCOPE.highest("vllmwatch:engine:kv_cache_usage_ratio:max"),
        of=("vllmwatch:engine:kv_cache_usage_ratio:max",),
        at_most_one=True,
        limits=Limits(bad_above=KV_CACHE_USAGE.key),
        alerts=("KvCacheUsageHigh", "KvCacheExhausted"),
    ),
    lines(
        "For how many tokens is there room?",
        _SCOPE.lowest("vllmwatch:engine:kv_cache_headroom_tokens:now"),
        of=("vllmwatch:engine:kv_cache_headroom_tokens:now",),
        alerts=("KvCacheExhausted",),
    ),
    lines(
        "When is it full, if it goes on filling like this?",
        _SCOPE.lowest("vllmwatch:engine:kv_cache_exhaustion_seconds:slope10m"),
        of=("vllmwatch:engine:kv_cache_exhaustion_seconds:slope10m",),
        no_data="It does not fill",
        limits=Limits(care_below=900.0),
        alerts=("KvCacheExhaustionSoon",),
    ),
    lines(
        "How many requests wait?",
        _SCOPE.highest("vllmwatch:engine:requests_waiting:max"),
        of=("vllmwatch:engine:requests_waiting:max",),
        alerts=("QueueGrowing",),
    ),
    lines(
        "How many requests are put back?",
        _SCOPE.highest("vllmwatch:engine:preemptions:rate5m"),
        of=("vllmwatch:engine:preemptions:rate5m",),
        alerts=("KvCacheExhausted",),
    ),
    lines(
        "Do transfers of KV fail?",
        _SCOPE.highest("vllmwatch:engine:kv_transfers_failed:increase10m", word="failed"),
        _SCOPE.highest("vllmwatch:engine:requests_kv_expired:increase10m", word="expired"),
        _SCOPE.highest("vllmwatch:engine:kv_offload_jobs_failed:increase10m", word="below the GPU"),
        of=(
            "vllmwatch:engine:kv_transfers_failed:increase10m",
            "vllmwatch:engine:requests_kv_expired:increase10m",
            "vllmwatch:engine:kv_offload_jobs_failed:increase10m",
        ),
        no_data="No transfers",
        alerts=("KvTransferFailing", "KvExpired", "KvOffloadFailing"),
    ),
)
_CHANGED = row(
    "What changed, and what stands beneath?",
    panel(
        "What runs where?",
        Look.TABLE,
        column(
            Query(
                "topk($most, group by (node, server, model_name, version, url) "
                f"({_SCOPE.select('vllmwatch_target_info')}))",
                ("node", "server", "model_name", "version", "url"),
            ),
            "There",
            NUMBER,
        ),
        of=("vllmwatch_target_info",),
        width=12,
        unit=NUMBER,
        hidden=("There",),
        alerts=("ModelConfigurationDrift",),
    ),
    panel(
        "On which GPUs?",
        Look.TABLE,
        column(
            _SCOPE.highest("vllmwatch_engine_gpu_info", by=("server", "engine", "rank", "node", "gpu", "uuid")),
            "There",
            NUMBER,
        ),
        of=("vllmwatch_engine_gpu_info",),
        width=12,
        unit=NUMBER,
        no_data="Not known; see docs/join.md",
        hidden=("There",),
        alerts=("GpuUsersUnknown",),
    ),
    lines(
        "Do the servers of a model differ?",
        _SCOPE.highest("vllmwatch:model:versions:count", word="versions of"),
        _SCOPE.highest("vllmwatch:model:cache_configurations:count", word="cache configurations of"),
        of=("vllmwatch:model:versions:count", "vllmwatch:model:cache_configurations:count"),
        width=12,
        limits=Limits(care_above=1.0),
        alerts=("ModelConfigurationDrift",),
    ),
    lines(
        "Which GPU holds up the others?",
        _SCOPE.lowest("vllmwatch:engine_gpu:sm_clock:ratio_avg5m", word="clock"),
        _SCOPE.lowest("vllmwatch:engine_gpu:pcie_width:ratio", word="PCIe lanes"),
        of=("vllmwatch:engine_gpu:sm_clock:ratio_avg5m", "vllmwatch:engine_gpu:pcie_width:ratio"),
        width=12,
        no_data="It runs nothing, or its GPUs are not known",
        limits=Limits(care_below=0.85),
        alerts=("GpuStraggler",),
    ),
)

BOARD = Dashboard(
    Board.SERVER,
    "vLLM models, servers and engines",
    "What hurts the users of a model, and which server or engine is it?",
    _SCOPE.variables,
    (_WELL, _LATENCY, _LIFE, _WORK, _ROOM, _CHANGED),
)
