"""Stories of health: stuck and not stuck, restarts told apart, fleets that drift, GPUs that serve nobody."""

from vllmwatch.catalog.recordings.stories.words import (
    NODE,
    SERVER,
    carried,
    engine_says,
    expect,
    model_says,
    nothing,
    of_engine,
    of_server,
    one_server,
    series,
    server_says,
    target,
)
from vllmwatch.spec.recording import LEVELS
from vllmwatch.spec.story import Sample, Series, Story

_TIME = "10m"
_B, _C = "box:8001", "box:8002"
_RUNNING = "vllm:num_requests_running"
_STUCK = "engine:requests_stuck:min2m"
_STALLED = "engine:requests_stalled:min2m"
_LAST_UP = "server:last_up_timestamp_seconds:last6h"
_UP = "vllmwatch_target_up"


def _engine(
    engine: str = "0",
    server: str = SERVER,
    running: str = "3x40",
    usage: str = "0.4x40",
    step: int = 0,
    prompt: int = 0,
    generated: int = 0,
) -> tuple[Series, ...]:
    """Return an engine that takes so many steps and tokens every 30 seconds."""
    return (
        of_engine(_RUNNING, running, engine, server),
        of_engine("vllm:kv_cache_usage_perc", usage, engine, server),
        of_engine("vllm:iteration_tokens_total_count", f"500+{step}x40", engine, server),
        of_engine("vllm:prompt_tokens_total", f"500+{prompt}x40", engine, server),
        of_engine("vllm:generation_tokens_total", f"500+{generated}x40", engine, server),
    )


_STUCK_STORIES: tuple[Story, ...] = (
    Story(
        "of three engines one is stuck, one idles and one works",
        30,
        (
            of_server(_UP, "1x40"),
            *_engine("0"),
            *_engine("1", running="0x40", usage="0x40"),
            *_engine("2", usage="0.4 0.5 0.4+0.001x37", step=9, prompt=100, generated=300),
        ),
        (expect(_TIME, _STUCK, engine_says(3)),),
    ),
    Story(
        "a long prefill makes no token and is not stuck: its KV cache fills",
        30,
        (of_server(_UP, "1x40"), *_engine(usage="0.1+0.01x40")),
        nothing(_TIME, _STUCK),
    ),
    Story(
        "a sleeping engine with a frozen count of requests idles",
        30,
        (
            of_server(_UP, "1x40"),
            *_engine(),
            of_engine("vllm:engine_sleep_state", "0x40", sleep_state="awake"),
            of_engine("vllm:engine_sleep_state", "1x40", sleep_state="weights_offloaded"),
        ),
        nothing(_TIME, _STUCK),
    ),
    Story(
        "an engine that is awake and stuck is stuck",
        30,
        (of_server(_UP, "1x40"), *_engine(), of_engine("vllm:engine_sleep_state", "1x40", sleep_state="awake")),
        (expect(_TIME, _STUCK, engine_says(3)),),
    ),
    Story(
        "a server that is seen for a minute, or that is not up, is not stuck",
        30,
        (
            of_server(_UP, "1x40"),
            *_engine(running="_x18 3x20"),
            of_server(_UP, "1x18 0x20", _B),
            *_engine(server=_B),
        ),
        nothing(_TIME, _STUCK),
    ),
    Story(
        "a server of a release that counts no steps is stuck by its tokens alone",
        30,
        (
            of_server(_UP, "1x40"),
            of_engine(_RUNNING, "2x40"),
            of_engine("vllm:kv_cache_usage_perc", "0.3x40"),
            of_engine("vllm:generation_tokens_total", "70x40"),
        ),
        (expect(_TIME, _STUCK, engine_says(2)),),
    ),
    Story(
        "a pooling model generates no token and ends requests: it works",
        30,
        (
            of_server(_UP, "1x40"),
            of_engine(_RUNNING, "2x40"),
            of_engine("vllm:kv_cache_usage_perc", "0x40"),
            of_engine("vllm:generation_tokens_total", "0x40"),
            of_engine("vllm:request_success_total", "90+7x40", finished_reason="stop"),
        ),
        nothing(_TIME, _STUCK),
    ),
)

_STALLED_STORY = Story(
    "an engine that runs none stalls, unless it makes steps: one that is done with each request in one step does",
    30,
    (
        *(
            of_engine("vllm:num_requests_waiting", waiting, engine)
            for engine, waiting in (
                ("0", "7x40"),
                ("1", "7x40"),
                ("2", "7x17 0 7x22"),
                ("3", "7x40"),
                ("4", "_x18 7x22"),
            )
        ),
        *_engine("0", running="0x40"),
        # An embedding model under load, and a server that only reads prompts.
        *_engine("1", running="0x40", step=9, prompt=300),
        *_engine("2", running="0x40"),
        *_engine("3", running="0x17 1 0x22"),
        *_engine("4", running="0x40"),
    ),
    (expect(_TIME, _STALLED, engine_says(7)),),
)

_SEEN = Story(
    "when a server was last up is what its exporter says, or what Prometheus saw, with the model of that time",
    60,
    (
        target("1x90"),
        of_server(_UP, "1x40 0x50"),
        of_server("vllmwatch_target_last_success_timestamp_seconds", "0+60x40 2405x50"),
        # The exporter began anew, or Prometheus scrapes by itself.
        target("1x20 stale", _B, "older"),
        target("_x20 1x20 stale", _B),
        of_server(_UP, "1x40 0x50", _B),
        of_server(_UP, "0x90", _C),
    ),
    (expect("1h20m", _LAST_UP, server_says(2405), server_says(2400, _B)),),
)

_RESTARTS = Story(
    "restarts are counted once, by the start time or by counters that begin anew, whatever the number of engines",
    60,
    (
        target("1x90"),
        target("1x90", _B),
        target("1x90", _C),
        # Two restarts, which its two engines show as well.
        of_server("process_start_time_seconds", "1000x30 2000x15 3000x45"),
        of_server("process_start_time_seconds", "1000x30 2000x15 3000x45", job="again"),
        *(of_engine("vllm:prompt_tokens_total", "9000+9x30 0+9x15 0+9x45", engine) for engine in ("0", "1")),
        # Several API servers show no start time; both engines begin anew, once.
        *(of_engine("vllm:prompt_tokens_total", "9000+9x30 0+9x60", engine, _B) for engine in ("0", "1")),
        of_engine("vllm:prompt_tokens_total", "9000+9x90", server=_C),
        # A program that is no server of ours.
        series("process_start_time_seconds", "1000x30 2000x60", node=NODE, job="node"),
    ),
    (
        expect("1h20m", "server:restarts:increase1h", server_says(2), server_says(1, _B), server_says(0, _C)),
        expect("1h20m", "model:restarts:increase1h", model_says(3)),
    ),
)


def _configured(server: str, **labels: str) -> Series:
    facts = {
        "engine": "0",
        "block_size": "16",
        "cache_dtype": "auto",
        "enable_prefix_caching": "True",
        "gpu_memory_utilization": "0.92",
    }
    return of_server("vllm:cache_config_info", "1x40", server, **(facts | labels))


_DRIFT = Story(
    "servers of a model differ in release and caches; sizes that follow from cards and servers gone do not count",
    30,
    (
        *(of_server(_UP, "1x40", server) for server in (SERVER, _B, _C)),
        target("1x40"),
        target("1x40", _B, version="0.31.0"),
        target("1x40", _C, "qwen"),
        # Gone, and remembered.
        of_server(_UP, "0x40", "box:8003"),
        target("1x40", "box:8003", version="0.30.0"),
        _configured(SERVER, kv_cache_size_tokens="1000", num_gpu_blocks="10"),
        _configured(SERVER, engine="1", kv_cache_size_tokens="1010", num_gpu_blocks="11"),
        _configured(_B, cache_dtype="fp8"),
        _configured(_C, block_size="32"),
    ),
    (
        expect(_TIME, "model:versions:count", model_says(2), model_says(1, "qwen")),
        expect(_TIME, "model:cache_configurations:count", model_says(2), model_says(1, "qwen")),
    ),
)


def _node_says(value: float) -> Sample:
    return Sample(dict.fromkeys(LEVELS["node"], NODE), value)


def _quiet(server: str, values: str = "500x90", running: str = "0x90") -> tuple[Series, ...]:
    return (
        target("1x90", server),
        of_engine(_RUNNING, running, server=server),
        of_engine("vllm:prompt_tokens_total", values, server=server),
        of_engine("vllm:generation_tokens_total", values, server=server),
    )


_UNUSED = Story(
    "GPUs of a server that served nothing for half an hour are unused; a shared one in part, a new server's not yet",
    60,
    (
        *_quiet(SERVER),
        carried("1x90", "GPU-0", rank="TP0"),
        carried("1x90", "GPU-1", rank="TP1"),
        *_quiet(_B, "500+9x90", "1x90"),
        carried("1x90", "GPU-1", _B),
        *_quiet(_C, "_x50 0x40", "_x50 0x40"),
        carried("_x50 1x40", "GPU-2", _C),
    ),
    (
        expect("1h", "server:unused_gpus:sum30m", server_says(1.5)),
        expect("1h", "node:unused_gpus:sum30m", _node_says(1.5)),
    ),
)

_SERVED = Story(
    "a server that served a request twenty minutes ago does not hold its GPU for nothing",
    60,
    (*_quiet(SERVER, "500x40 600x50"), carried("1x90", "GPU-0")),
    (
        *nothing("1h", "server:unused_gpus:sum30m", "node:unused_gpus:sum30m"),
        *one_server("1h", "restarts:increase1h", 0),
    ),
)

STORIES: tuple[Story, ...] = (*_STUCK_STORIES, _STALLED_STORY, _SEEN, _RESTARTS, _DRIFT, _UNUSED, _SERVED)
