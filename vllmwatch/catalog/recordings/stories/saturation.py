"""Stories of saturation: one full engine beside an empty one, hybrid models, caches that do not fill."""

from vllmwatch.catalog.recordings.stories.words import (
    NODE,
    SERVER,
    engine_says,
    expect,
    model_says,
    nothing,
    of_engine,
    one_engine,
    series,
    server_says,
)
from vllmwatch.spec.story import Series, Story

_TIME = "10m"
_B = "box:8001"
_USAGE = "vllm:kv_cache_usage_perc"
_EXHAUSTION = ("engine:kv_cache_exhaustion_seconds:slope10m", "server:kv_cache_exhaustion_seconds:slope10m")


def _size(tokens: int, engine: str = "0", server: str = SERVER, basis: str = "reported") -> Series:
    labels = {"node": NODE, "server": server, "engine": engine, "basis": basis}
    return series("vllmwatch_engine_kv_cache_size_tokens", f"{tokens}x40", **labels)


_IDLE_AND_SATURATED = Story(
    "of two data-parallel engines one is idle and one saturated: the server is as full as the fuller one",
    30,
    (
        # Every 30 seconds it fills by a hundredth: 0.6 at first, 0.8 after 10 minutes; 20 more are left.
        of_engine(_USAGE, "0.05x40"),
        of_engine(_USAGE, "0.6+0.01x30", "1"),
        _size(100_000),
        _size(100_000, "1"),
        of_engine("vllm:num_requests_running", "2x40"),
        of_engine("vllm:num_requests_running", "250x40", "1"),
        of_engine("vllm:num_requests_waiting", "0x40"),
        of_engine("vllm:num_requests_waiting", "0+3x40", "1"),
        of_engine("vllm:num_preemptions_total", "3x40"),
        of_engine("vllm:num_preemptions_total", "100+6x40", "1"),
    ),
    (
        expect(_TIME, "engine:kv_cache_usage_ratio:max", engine_says(0.05), engine_says(0.8, "1")),
        expect(_TIME, "server:kv_cache_usage_ratio:max", server_says(0.8)),
        expect(_TIME, "model:kv_cache_usage_ratio:max", model_says(0.8)),
        expect(
            _TIME,
            "engine:kv_cache_headroom_tokens:now",
            engine_says(95_000, basis="reported"),
            engine_says(20_000, "1", basis="reported"),
        ),
        expect(_TIME, "server:kv_cache_headroom_tokens:now", server_says(115_000, basis="reported")),
        expect(_TIME, "model:kv_cache_headroom_tokens:now", model_says(115_000, basis="reported")),
        expect(_TIME, "engine:kv_cache_exhaustion_seconds:slope10m", engine_says(600, "1")),
        expect(_TIME, "server:kv_cache_exhaustion_seconds:slope10m", server_says(600)),
        expect(_TIME, "engine:requests_running:max", engine_says(2), engine_says(250, "1")),
        expect(_TIME, "server:requests_running:sum", server_says(252)),
        expect(_TIME, "model:requests_running:sum", model_says(252)),
        expect(_TIME, "engine:requests_waiting:max", engine_says(0), engine_says(60, "1")),
        expect(_TIME, "server:requests_waiting:sum", server_says(60)),
        expect(_TIME, "model:requests_waiting:sum", model_says(60)),
        expect(_TIME, "engine:requests_waiting:slope10m", engine_says(0), engine_says(0.1, "1")),
        expect(_TIME, "server:requests_waiting:slope10m", server_says(0.1)),
        expect(_TIME, "model:requests_waiting:slope10m", model_says(0.1)),
        expect(_TIME, "engine:preemptions:rate5m", engine_says(0), engine_says(0.2, "1")),
        expect(_TIME, "server:preemptions:rate5m", server_says(0.2)),
        expect(_TIME, "model:preemptions:rate5m", model_says(0.2)),
    ),
)

_HYBRID = Story(
    "a hybrid model holds the tokens that it reports, not blocks times tokens a block; an estimate says that it is one",
    30,
    (
        of_engine(_USAGE, "0.5x40"),
        _size(524_288),
        series(
            "vllm:cache_config_info",
            "1x40",
            node=NODE,
            server=SERVER,
            engine="0",
            block_size="16",
            num_gpu_blocks="1000",
            kv_cache_size_tokens="524288",
        ),
        of_engine(_USAGE, "0.25x40", server=_B),
        _size(16_000, server=_B, basis="blocks"),
    ),
    (
        expect(
            _TIME,
            "server:kv_cache_headroom_tokens:now",
            server_says(262_144, basis="reported"),
            server_says(12_000, _B, basis="blocks"),
        ),
        expect(
            _TIME,
            "model:kv_cache_headroom_tokens:now",
            model_says(262_144, basis="reported"),
            model_says(12_000, basis="blocks"),
        ),
    ),
)

STORIES: tuple[Story, ...] = (
    _IDLE_AND_SATURATED,
    _HYBRID,
    Story(
        "a cache that is full and steady, one that empties, and one that fills from nothing will not be exhausted",
        30,
        (
            of_engine(_USAGE, "0.95x40"),
            of_engine(_USAGE, "0.9-0.01x30", "1"),
            of_engine(_USAGE, "0.1+0.01x30", "2"),
        ),
        nothing(_TIME, *_EXHAUSTION),
    ),
    Story(
        "the engine whose cache is full first decides for the server",
        30,
        (of_engine(_USAGE, "0.6+0.01x30"), of_engine(_USAGE, "0.6+0.005x30", "1")),
        (
            expect(_TIME, _EXHAUSTION[0], engine_says(600), engine_says(1800, "1")),
            expect(_TIME, _EXHAUSTION[1], server_says(600)),
        ),
    ),
    Story(
        "several API servers of an old release show the use of one cache once",
        30,
        (of_engine(_USAGE, "0.25x40", pid="10"), of_engine(_USAGE, "0.5x40", pid="11")),
        one_engine(_TIME, "kv_cache_usage_ratio:max", 0.5),
    ),
    Story(
        "one exporter scraped by two jobs: requests run once",
        30,
        tuple(
            of_engine(name, "9x40", job=job)
            for job in ("vllmwatch", "again")
            for name in ("vllm:num_requests_running", "vllm:num_requests_waiting")
        ),
        (
            expect(_TIME, "server:requests_running:sum", server_says(9)),
            expect(_TIME, "server:requests_waiting:sum", server_says(9)),
        ),
    ),
)
