"""Caches: what speculation guesses right, and shares of a model against what they were in the day before."""

from collections.abc import Iterator

from vllmwatch.catalog.recordings.terms import engine_rate, rolled_up, shares
from vllmwatch.spec.promql import steps
from vllmwatch.spec.recording import TOKENS_PER_SECOND, Group, Recording
from vllmwatch.spec.unit import RATIO

_STEP = "5m"
_NOW = "30m"
_PAST = "24h"
# The past ends before what is held against it begins, and is none before it is so old.
_AGO = "1h"
_OLD = "6h"


def _tokens(figure: str, help_text: str, expression: str) -> tuple[Recording, ...]:
    return rolled_up(Recording("engine", figure, "rate5m", help_text, TOKENS_PER_SECOND, expression))


def _against_the_past(part: str, whole: str, what: str) -> Iterator[Recording]:
    """Yield the share of a model now and in the day before, weighted by tokens, and how many tokens it is of."""
    parts, wholes = (f"vllmwatch:model:{figure}:rate5m" for figure in (part, whole))
    now, past = (
        [f"sum_over_time({steps(name, window, _STEP)}{offset})" for name in (parts, wholes)]
        for window, offset in ((_NOW, ""), (_PAST, f" offset {_AGO}"))
    )
    yield Recording(
        "model",
        part,
        f"ratio_avg{_NOW}",
        f"Share of {what}; absent without any.",
        RATIO,
        f"{now[0]} / ({now[1]} > 0)",
    )
    yield Recording(
        "model",
        part,
        f"ratio_avg{_PAST}",
        f"The same over {_PAST} until an hour ago; absent where the model was not there {_OLD} ago.",
        RATIO,
        f"{past[0]} / ({past[1]} > 0)\nand {wholes} offset {_OLD}",
    )
    yield Recording(
        "model",
        whole,
        f"avg{_NOW}",
        f"What the share of {what} is of.",
        TOKENS_PER_SECOND,
        f"avg_over_time({steps(wholes, _NOW, _STEP)})",
    )


GROUP = Group(
    "caches",
    "What speculation guesses right, and shares against what they were in the day before.",
    30,
    (
        *_tokens(
            "draft_tokens",
            "Tokens proposed by the speculator.",
            engine_rate("vllm:spec_decode_num_draft_tokens_total"),
        ),
        *_tokens(
            "accepted_draft_tokens",
            "Proposed tokens that were accepted.",
            engine_rate("vllm:spec_decode_num_accepted_tokens_total"),
        ),
        *shares(
            "vllmwatch:{level}:accepted_draft_tokens:rate5m",
            "vllmwatch:{level}:draft_tokens:rate5m",
            "accepted_draft_tokens",
            "ratio_rate5m",
            "Share of proposed tokens that were accepted; absent where none were proposed.",
            RATIO,
        ),
        *_against_the_past("accepted_draft_tokens", "draft_tokens", "proposed tokens that were accepted"),
        *_against_the_past("cached_prompt_tokens", "cacheable_prompt_tokens", "prompt tokens that came from a cache"),
    ),
)
