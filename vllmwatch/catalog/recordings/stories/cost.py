"""Stories of cost: both prices, one, none; a server that works beside one that idles."""

from vllmwatch.catalog.recordings.stories.words import (
    NODE,
    carried,
    expect,
    model_says,
    nothing,
    of_engine,
    of_gpu,
    one_server,
    series,
    server_says,
    target,
)
from vllmwatch.spec.story import Series, Story

_TIME = "10m"
_LONG = "1h10m"
_A, _B = "box:8000", "box:8001"
_POWER = "vllmwatch_gpu_power_watts"
_GPU_PRICE = series("vllmwatch_price_per_gpu_hour", "3.6x300", node=NODE)
_ENERGY_PRICE = series("vllmwatch_price_per_kilowatt_hour", "0.36x300", node=NODE)
_COSTS = ("gpu_cost_per_second", "energy_cost_per_second", "cost_per_second", "busy_cost_per_second")


def _server(server: str, running: int, prompt: float, generated: float) -> tuple[Series, ...]:
    return (
        target("1x300", server),
        of_engine("vllm:num_requests_running", f"{running}x300", server=server),
        of_engine("vllm:prompt_tokens_total", f"5000+{prompt * 15:g}x300", server=server),
        of_engine("vllm:generation_tokens_total", f"5000+{generated * 15:g}x300", server=server),
    )


# Two GPUs of 500 W for 100 tokens of prompts and 300 of answers a second, and one of 200 W for nothing.
_BUSY = (
    *_server(_A, 4, 100, 300),
    *(of_gpu(_POWER, "500x300", uuid) for uuid in ("GPU-0", "GPU-1")),
    *(carried("1x300", uuid, rank=f"TP{uuid[-1]}") for uuid in ("GPU-0", "GPU-1")),
)
_IDLE = (*_server(_B, 0, 0, 0), of_gpu(_POWER, "200x300", "GPU-2"), carried("1x300", "GPU-2", _B))
_PER_MILLION = (
    # 0.0021 a second for 400 tokens a second; with the idle server 0.00312.
    ("cost_per_million_tokens", 5.25, 7.8),
    ("busy_cost_per_million_tokens", 5.25, 5.25),
    ("cost_per_million_generation_tokens", 7, 10.4),
    ("busy_cost_per_million_generation_tokens", 7, 7),
)

_BOTH = Story(
    "with both prices GPUs and energy are paid, and the model's tokens pay for the server that idles",
    15,
    (*_BUSY, *_IDLE, _GPU_PRICE, _ENERGY_PRICE),
    (
        expect(_TIME, "server:gpu_cost_per_second:now", server_says(0.002), server_says(0.001, _B)),
        expect(_TIME, "model:gpu_cost_per_second:now", model_says(0.003)),
        expect(_TIME, "server:energy_cost_per_second:now", server_says(0.0001), server_says(0.00002, _B)),
        expect(_TIME, "model:energy_cost_per_second:now", model_says(0.00012)),
        expect(_TIME, "server:cost_per_second:now", server_says(0.0021), server_says(0.00102, _B)),
        expect(_TIME, "model:cost_per_second:now", model_says(0.00312)),
        expect(_TIME, "server:busy_cost_per_second:now", server_says(0.0021), server_says(0, _B)),
        expect(_TIME, "model:busy_cost_per_second:now", model_says(0.0021)),
        *(
            check
            for figure, of_server, of_model in _PER_MILLION
            for time, window in ((_TIME, "5m"), (_LONG, "1h"))
            for check in (
                expect(time, f"server:{figure}:avg{window}", server_says(of_server)),
                expect(time, f"model:{figure}:avg{window}", model_says(of_model)),
            )
        ),
    ),
)

STORIES: tuple[Story, ...] = (
    _BOTH,
    Story(
        "without prices nothing costs anything, not even 0",
        15,
        _BUSY,
        nothing(
            _TIME,
            *(f"{level}:{figure}:now" for level in ("server", "model") for figure in _COSTS),
            *(f"server:{figure}:avg5m" for figure, *_ in _PER_MILLION),
        ),
    ),
    Story(
        "with a price of GPUs alone energy is free, and its absence takes nothing away",
        15,
        (*_BUSY, _GPU_PRICE),
        (
            *one_server(_TIME, "cost_per_second:now", 0.002),
            *one_server(_TIME, "cost_per_million_tokens:avg5m", 5),
            *nothing(_TIME, "server:energy_cost_per_second:now"),
        ),
    ),
    Story(
        "with a price of energy alone the GPUs are free",
        15,
        (*_BUSY, _ENERGY_PRICE),
        (
            *one_server(_TIME, "cost_per_second:now", 0.0001),
            *one_server(_TIME, "cost_per_million_tokens:avg5m", 0.25),
            *nothing(_TIME, "server:gpu_cost_per_second:now"),
        ),
    ),
    Story(
        "energy that has a price and no reading leaves the whole cost unknown",
        15,
        (
            *_server(_A, 4, 100, 300),
            carried("1x300", "GPU-0"),
            carried("1x300", "GPU-1", rank="TP1"),
            of_gpu(_POWER, "500x300", "GPU-0"),
            _GPU_PRICE,
            _ENERGY_PRICE,
        ),
        (
            *one_server(_TIME, "gpu_cost_per_second:now", 0.002),
            *nothing(_TIME, "server:energy_cost_per_second:now", "server:cost_per_second:now"),
        ),
    ),
)
