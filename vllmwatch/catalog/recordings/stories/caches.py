"""Stories of caches: shares that fall against their own past, which must be old enough to be one."""

from vllmwatch.catalog.recordings.stories.words import (
    engine_says,
    expect,
    model_says,
    nothing,
    of_engine,
    one_engine,
    one_server,
)
from vllmwatch.spec.story import Story

_TIME = "8h"
_DRAFTED = "vllm:spec_decode_num_draft_tokens_total"
_ACCEPTED = "vllm:spec_decode_num_accepted_tokens_total"

_DROPPED = Story(
    "after seven hours shares fall: the past is as it was, and what is now is of the last half hour alone",
    60,
    (
        # A minute: 6000 prompt tokens, of which 3000 and then 600 come from a cache.
        of_engine("vllm:prompt_tokens_total", "0+6000x480"),
        of_engine("vllm:prompt_tokens_cached_total", "0+3000x420 1260600+600x59"),
        # A minute: 1200 tokens proposed, of which 900 and then 300 are accepted; scraped twice.
        of_engine(_DRAFTED, "0+1200x480"),
        of_engine(_DRAFTED, "0+1200x480", job="again"),
        of_engine(_ACCEPTED, "0+900x420 378300+300x59"),
        # An idle engine adds nothing.
        *(of_engine(name, "7x480", engine="1") for name in (_DRAFTED, _ACCEPTED, "vllm:prompt_tokens_total")),
    ),
    (
        expect(_TIME, "engine:draft_tokens:rate5m", engine_says(20), engine_says(0, "1")),
        expect(_TIME, "engine:accepted_draft_tokens:rate5m", engine_says(5), engine_says(0, "1")),
        *one_server(_TIME, "draft_tokens:rate5m", 20),
        *one_server(_TIME, "accepted_draft_tokens:rate5m", 5),
        *one_engine(_TIME, "accepted_draft_tokens:ratio_rate5m", 0.25),
        expect(_TIME, "model:accepted_draft_tokens:ratio_avg30m", model_says(0.25)),
        expect(_TIME, "model:accepted_draft_tokens:ratio_avg24h", model_says(0.75)),
        expect(_TIME, "model:draft_tokens:avg30m", model_says(20)),
        expect(_TIME, "model:cached_prompt_tokens:ratio_avg30m", model_says(0.1)),
        expect(_TIME, "model:cached_prompt_tokens:ratio_avg24h", model_says(0.5)),
        expect(_TIME, "model:cacheable_prompt_tokens:avg30m", model_says(100)),
        *nothing("5h50m", "model:cached_prompt_tokens:ratio_avg24h", "model:accepted_draft_tokens:ratio_avg24h"),
    ),
)

_IDLE = Story(
    "tokens of an engine are its own, and a model without any has no share",
    60,
    (
        of_engine(_DRAFTED, "0+1200x40", engine="0"),
        of_engine(_DRAFTED, "7x40", engine="1"),
        of_engine(_ACCEPTED, "0+900x40", engine="0"),
        of_engine(_ACCEPTED, "7x40", engine="1"),
        of_engine(_DRAFTED, "7x40", server="box:8001", model_name="idle"),
        of_engine(_ACCEPTED, "7x40", server="box:8001", model_name="idle"),
    ),
    (
        expect("35m", "model:accepted_draft_tokens:ratio_avg30m", model_says(0.75)),
        expect("35m", "model:draft_tokens:avg30m", model_says(20), model_says(0, "idle")),
        expect("35m", "engine:accepted_draft_tokens:ratio_rate5m", engine_says(0.75)),
    ),
)

STORIES: tuple[Story, ...] = (_DROPPED, _IDLE)
