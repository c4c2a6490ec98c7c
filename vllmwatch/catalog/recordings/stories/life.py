"""Stories of the life of a request: two engines whose means are weighted by requests, and positions of a draft."""

from vllmwatch.catalog.recordings.stories.words import engine_says, expect, model_says, of_engine, server_says
from vllmwatch.spec.story import Series, Story

_TIME = "10m"
_SECOND = "box:8001"


def _histogram(name: str, each: float, a_minute: float, engine: str = "0", server: str = "box:8000") -> list[Series]:
    """Return sum and count of a histogram of so many observations a minute, at two samples a minute."""
    return [
        of_engine(f"{name}_sum", f"0+{each * a_minute / 2:g}x40", engine=engine, server=server),
        of_engine(f"{name}_count", f"0+{a_minute / 2:g}x40", engine=engine, server=server),
    ]


STORIES: tuple[Story, ...] = (
    Story(
        "three of four requests are of an engine that is slower, and another server has them all at once",
        30,
        tuple(
            each
            for phase, slow, fast, other in (("queue", 4, 0, 1), ("prefill", 1, 3, 1), ("decode", 20, 12, 8))
            for each in (
                *_histogram(f"vllm:request_{phase}_time_seconds", slow, 6),
                *_histogram(f"vllm:request_{phase}_time_seconds", fast, 2, engine="1"),
                *_histogram(f"vllm:request_{phase}_time_seconds", other, 8, server=_SECOND),
            )
        ),
        (
            expect(
                _TIME,
                "server:request_phase_seconds:avg5m",
                server_says(3, phase="queue"),
                server_says(1.5, phase="prefill"),
                server_says(18, phase="decode"),
                *(
                    server_says(value, server=_SECOND, phase=phase)
                    for phase, value in (("queue", 1), ("prefill", 1), ("decode", 8))
                ),
            ),
            expect(
                _TIME,
                "model:request_phase_seconds:avg5m",
                model_says(2, phase="queue"),
                model_says(1.25, phase="prefill"),
                model_says(13, phase="decode"),
            ),
        ),
    ),
    Story(
        "long prompts and short answers, scraped twice; an engine that makes no step",
        30,
        (
            *_histogram("vllm:request_prompt_tokens", 900, 4),
            *_histogram("vllm:request_prompt_tokens", 300, 2, server=_SECOND),
            *_histogram("vllm:request_generation_tokens", 30, 4),
            *_histogram("vllm:request_generation_tokens", 60, 2, server=_SECOND),
            of_engine("vllm:request_prompt_tokens_sum", "0+1800x40", job="again"),
            of_engine("vllm:request_prompt_tokens_count", "0+2x40", job="again"),
            *_histogram("vllm:iteration_tokens_total", 64, 120),
            of_engine("vllm:iteration_tokens_total_sum", "7x40", engine="1"),
            of_engine("vllm:iteration_tokens_total_count", "7x40", engine="1"),
        ),
        (
            expect(_TIME, "server:request_prompt_tokens:avg5m", server_says(900), server_says(300, server=_SECOND)),
            expect(_TIME, "model:request_prompt_tokens:avg5m", model_says(700)),
            expect(_TIME, "server:request_generation_tokens:avg5m", server_says(30), server_says(60, server=_SECOND)),
            expect(_TIME, "model:request_generation_tokens:avg5m", model_says(40)),
            expect(_TIME, "engine:step_tokens:avg5m", engine_says(64)),
        ),
    ),
    Story(
        "of three tokens proposed at once the first is nearly always right",
        30,
        (
            of_engine("vllm:spec_decode_num_drafts_total", "0+60x40"),
            of_engine("vllm:spec_decode_num_drafts_total", "0+40x40", server=_SECOND),
            *(
                of_engine("vllm:spec_decode_num_accepted_tokens_per_pos_total", f"0+{count}x40", position=position)
                for position, count in (("0", 54), ("1", 30), ("2", 6))
            ),
            of_engine("vllm:spec_decode_num_accepted_tokens_per_pos_total", "0+36x40", server=_SECOND, position="0"),
        ),
        (
            expect(
                _TIME,
                "model:draft_position_accepted:ratio_rate5m",
                model_says(0.9, position="0"),
                model_says(0.3, position="1"),
                model_says(0.06, position="2"),
            ),
        ),
    ),
)
