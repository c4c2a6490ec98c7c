"""The life of a request: how long it queues, is read and is answered, how long it is, and what a step holds."""

from collections.abc import Iterator

from vllmwatch.catalog.recordings.terms import engine_rate, of_engine, upstream
from vllmwatch.spec.metric import Label
from vllmwatch.spec.promql import aggregate, either
from vllmwatch.spec.recording import LEVELS, TOKENS, Group, Recording
from vllmwatch.spec.unit import RATIO, SECONDS

PHASE = Label(
    "phase",
    "A part of a request's life.",
    {
        "queue": "It waits until the engine begins with it.",
        "prefill": "The prompt is computed, up to the first token.",
        "decode": "The answer is written, from the first token to the last.",
    },
)
POSITION = Label("position", "The place among the tokens that are proposed at once, from 0 on.")
_LEVELS = ("server", "model")
_DRAFTS = "vllm:spec_decode_num_drafts_total"
_ACCEPTED = "vllm:spec_decode_num_accepted_tokens_per_pos_total"


def _mean(histogram: str, labels: tuple[str, ...]) -> str:
    """Return the mean of a histogram over five minutes; absent where nothing was observed."""
    total, count = (aggregate("sum", labels, engine_rate(f"{histogram}_{part}")) for part in ("sum", "count"))
    return f"{total} / ({count} > 0)"


def _means() -> Iterator[Recording]:
    for level in _LEVELS:
        phases = (
            f'label_replace({_mean(f"vllm:request_{phase}_time_seconds", LEVELS[level])}, "phase", "{phase}", "", "")'
            for phase in PHASE.values
        )
        yield Recording(
            level,
            "request_phase_seconds",
            "avg5m",
            "How long requests that ended were in each part of their life, on average; absent where none ended.",
            SECONDS,
            either(*phases),
            (PHASE,),
        )
        for part, what in (("prompt", "prompts"), ("generation", "answers")):
            yield Recording(
                level,
                f"request_{part}_tokens",
                "avg5m",
                f"Length of the {what} of requests that ended, on average; absent where none ended.",
                TOKENS,
                _mean(f"vllm:request_{part}_tokens", LEVELS[level]),
            )


_STEP = Recording(
    "engine",
    "step_tokens",
    "avg5m",
    "Tokens that a step of an engine computes, on average; absent while it makes none.",
    TOKENS,
    _mean("vllm:iteration_tokens_total", LEVELS["engine"]),
)
_BY_POSITION = Recording(
    "model",
    "draft_position_accepted",
    "ratio_rate5m",
    "Share of the tokens proposed at each position that were accepted; absent where none were proposed.",
    RATIO,
    aggregate("sum", ("model_name", "position"), of_engine(f"rate({upstream(_ACCEPTED, window='5m')})", POSITION))
    + "\n/ on (model_name) group_left ()\n"
    + f"({aggregate('sum', ('model_name',), engine_rate(_DRAFTS))} > 0)",
    (POSITION,),
)

GROUP = Group(
    "life",
    "The life of a request: its phases, its length, and what an engine's step holds.",
    30,
    (*_means(), _STEP, _BY_POSITION),
)
