"""Stories of energy: eight cards, shared cards, cut cards, missing readings, idle time."""

from vllmwatch.catalog.recordings.stories.words import (
    carried,
    expect,
    gpu_says,
    model_says,
    nothing,
    of_engine,
    of_gpu,
    one_server,
    server_says,
    target,
)
from vllmwatch.spec.story import Series, Story

_TIME = "10m"
_LONG = "1h10m"
_A, _B = "box:8000", "box:8001"
_RUNNING = "vllm:num_requests_running"
_POWER = "vllmwatch_gpu_power_watts"
_ENERGY = "vllmwatch_gpu_energy_joules_total"
_EIGHT = tuple(f"GPU-{index}" for index in range(8))
_PER_TOKEN = ("energy_per_token_joules:avg5m", "energy_per_generation_token_joules:avg5m")


def _working(prompt: float, generated: float, server: str = _A, count: int = 300) -> tuple[Series, ...]:
    """Return a server that works off so many tokens a second; samples are 15 seconds apart."""
    return (
        of_engine(_RUNNING, f"4x{count}", server=server),
        of_engine("vllm:prompt_tokens_total", f"5000+{prompt * 15:g}x{count}", server=server),
        of_engine("vllm:generation_tokens_total", f"5000+{generated * 15:g}x{count}", server=server),
    )


def _idle(server: str = _A) -> tuple[Series, ...]:
    return (
        of_engine(_RUNNING, "0x300", server=server),
        of_engine("vllm:prompt_tokens_total", "5000x300", server=server),
        of_engine("vllm:generation_tokens_total", "5000x300", server=server),
    )


_EIGHT_CARDS = Story(
    "tensor parallelism over eight cards: their energy is added up, once, whoever scrapes it how often",
    15,
    (
        target("1x300"),
        *_working(100, 300),
        # 500 W each: 7500 J in 15 seconds. The gauge beside the counter is not asked.
        *(of_gpu(_ENERGY, "90000+7500x300", uuid) for uuid in _EIGHT),
        *(of_gpu(_ENERGY, "90000+7500x300", uuid, job="again") for uuid in _EIGHT),
        *(of_gpu(_POWER, "444x300", uuid) for uuid in _EIGHT),
        *(carried("1x300", uuid, rank=f"TP{uuid[-1]}") for uuid in _EIGHT),
        # A card that carries nobody is nobody's.
        of_gpu(_ENERGY, "90000+7500x300", "GPU-8"),
    ),
    (
        expect(_TIME, "gpu:power_watts:avg1m", *(gpu_says(500, uuid) for uuid in (*_EIGHT, "GPU-8"))),
        expect(_TIME, "server_gpu:power_watts:avg1m", *(gpu_says(500, uuid, server=_A) for uuid in _EIGHT)),
        *one_server(_TIME, "power_watts:avg1m", 4000),
        expect(_TIME, "server:power_busy_watts:now", server_says(4000)),
        expect(_TIME, "server:power_idle_watts:now", server_says(0)),
        *one_server(_TIME, "power_busy_watts:avg5m", 4000),
        *one_server(_TIME, "power_idle_watts:avg5m", 0),
        *one_server(_TIME, "energy_idle:ratio_avg5m", 0),
        *one_server(_TIME, "energy_per_token_joules:avg5m", 10),
        *one_server(_TIME, "energy_per_generation_token_joules:avg5m", 13.333333),
        *one_server(_LONG, "power_busy_watts:avg1h", 4000),
        *one_server(_LONG, "power_idle_watts:avg1h", 0),
        *one_server(_LONG, "energy_idle:ratio_avg1h", 0),
    ),
)

_SHARED = Story(
    "two servers on one GPU pay half of its energy each, the idle one as idle; its watts are nobody's joules a token",
    15,
    (
        target("1x300"),
        target("1x300", _B),
        *_working(10, 40),
        *_idle(_B),
        of_gpu(_POWER, "300x300", "GPU-0"),
        carried("1x300", "GPU-0"),
        carried("1x300", "GPU-0", _B),
    ),
    (
        expect(_TIME, "server:power_watts:avg1m", server_says(150), server_says(150, _B)),
        expect(_TIME, "model:power_watts:avg1m", model_says(300)),
        expect(_TIME, "server:power_busy_watts:avg5m", server_says(150), server_says(0, _B)),
        expect(_TIME, "server:power_idle_watts:avg5m", server_says(0), server_says(150, _B)),
        expect(_TIME, "server:energy_idle:ratio_avg5m", server_says(0), server_says(1, _B)),
        expect(_TIME, "model:energy_idle:ratio_avg5m", model_says(0.5)),
        expect(_TIME, "server:energy_per_token_joules:avg5m", server_says(3)),
        expect(_TIME, "model:energy_per_token_joules:avg5m", model_says(3)),
    ),
)

_CUT = Story(
    "a MIG parent with two instances of two servers: each pays half of the parent's energy",
    15,
    (
        target("1x300"),
        target("1x300", _B),
        *_working(10, 40),
        *_working(0, 20, _B),
        of_gpu(_ENERGY, "90000+6000x300", "GPU-0"),
        carried("1x300", "MIG-1", rank="", parent_uuid="GPU-0"),
        carried("1x300", "MIG-2", _B, rank="", parent_uuid="GPU-0"),
    ),
    (
        expect(_TIME, "server:power_watts:avg1m", server_says(200), server_says(200, _B)),
        expect(_TIME, "server:energy_per_token_joules:avg5m", server_says(4), server_says(10, _B)),
        # 400 W for 70 tokens a second: no average of the servers' figures.
        expect(_TIME, "model:energy_per_token_joules:avg5m", model_says(5.714286)),
    ),
)

_MISSING = Story(
    "the reading of one of two GPUs is missing: the server has no watts rather than half of them",
    15,
    (
        target("1x300"),
        target("1x300", _B),
        *_working(10, 40),
        *_working(10, 40, _B),
        of_gpu(_POWER, "300x300", "GPU-0"),
        of_gpu(_POWER, "400x300", "GPU-2"),
        carried("1x300", "GPU-0"),
        carried("1x300", "GPU-1", rank="TP1"),
        carried("1x300", "GPU-2", _B),
    ),
    (
        expect(_TIME, "server:power_watts:avg1m", server_says(400, _B)),
        expect(_TIME, "server:energy_per_token_joules:avg5m", server_says(8, _B)),
        # Tokens of a server without watts are not thrown in.
        expect(_TIME, "model:energy_per_token_joules:avg5m", model_says(8)),
    ),
)

_HALF = Story(
    "a server that works for half of the time: what it draws while it idles is kept apart",
    15,
    (
        target("1x40"),
        of_engine(_RUNNING, "4x10 0x30"),
        # From 15 seconds on: 10 moments at work, then 10 idle ones.
        of_gpu(_POWER, "_ 400x39", "GPU-0"),
        carried("1x40", "GPU-0"),
    ),
    (
        expect("2m30s", "server:power_busy_watts:now", server_says(400)),
        expect("2m30s", "server:power_idle_watts:now", server_says(0)),
        expect("5m", "server:power_busy_watts:now", server_says(0)),
        expect("5m", "server:power_idle_watts:now", server_says(400)),
        *one_server("5m", "power_busy_watts:avg5m", 200),
        *one_server("5m", "power_idle_watts:avg5m", 200),
        *one_server("5m", "energy_idle:ratio_avg5m", 0.5),
    ),
)

_IDLE_NIGHT = Story(
    "an idle night, or a night asleep, costs watts and no joules a token",
    15,
    (
        target("1x300"),
        *_idle(),
        of_engine("vllm:engine_sleep_state", "0x300", sleep_state="awake"),
        of_engine("vllm:engine_sleep_state", "1x300", sleep_state="weights_offloaded"),
        of_gpu(_POWER, "70x300", "GPU-0"),
        carried("1x300", "GPU-0"),
    ),
    (
        *one_server(_LONG, "power_idle_watts:avg1h", 70),
        *one_server(_LONG, "power_busy_watts:avg1h", 0),
        *one_server(_LONG, "energy_idle:ratio_avg1h", 1),
        *nothing(_LONG, *(f"{level}:{figure}" for level in ("server", "model") for figure in _PER_TOKEN)),
    ),
)

_YOUNG = Story(
    "a server without watts five minutes ago has no joules a token yet, and then the right ones",
    15,
    (
        target("1x60"),
        *_working(100, 300, count=60),
        of_gpu(_POWER, "_x20 400x40", "GPU-0"),
        carried("1x60", "GPU-0"),
    ),
    (
        *nothing("7m", *(f"{level}:{figure}" for level in ("server", "model") for figure in _PER_TOKEN)),
        *one_server("11m", "energy_per_token_joules:avg5m", 1),
    ),
)

_RESTART = Story(
    "a restart in the middle changes no joules a token",
    15,
    (
        target("1x60"),
        of_engine(_RUNNING, "4x60"),
        of_engine("vllm:prompt_tokens_total", "9000+1500x31 1500+1500x20"),
        of_engine("vllm:generation_tokens_total", "9000+4500x31 4500+4500x20"),
        of_gpu(_POWER, "400x60", "GPU-0"),
        carried("1x60", "GPU-0"),
    ),
    (
        *one_server(_TIME, "energy_per_token_joules:avg5m", 1),
        *one_server(_TIME, "energy_per_generation_token_joules:avg5m", 1.333333),
    ),
)

STORIES: tuple[Story, ...] = (_EIGHT_CARDS, _SHARED, _CUT, _MISSING, _HALF, _IDLE_NIGHT, _YOUNG, _RESTART)
