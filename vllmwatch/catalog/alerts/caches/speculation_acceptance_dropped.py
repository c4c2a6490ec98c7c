"""Of the tokens that a model's speculator proposes less than half as many are accepted as in the day before.

## What it means

For half an hour the share of proposed tokens of the last half hour that the model accepted was less than half of what
it was over the 24 hours until an hour ago. That was more than 20 %, and there are more than 10 proposed tokens a
second. The value is the present share.

## Why it matters

Each rejected token is work for nothing. Below some share answers are slower with speculation than without, on the same
cards, and no other figure says why.

## First look

- `vllmwatch:server:accepted_draft_tokens:ratio_rate5m`: one server, or all? When did it begin?
- `curl -s http://HOST:PORT/metrics | grep accepted_tokens_per_pos`: the first proposed token is accepted most often.
- Was the model, its quantization or the speculator changed? `vllmwatch:model:versions:count`.

## What to do

1. After a change of weights: the speculator must fit them; use one that was made for them.
2. One server: it runs another speculator, or another version, than its like.
3. Other prompts (code before, now another language): propose fewer tokens (`num_speculative_tokens` in
   `--speculative-config`), or do without.

## When it lies

Sampling at a high temperature accepts less, so a new client with such requests looks like a fault. The share in the day
before is of all kinds of requests together.
"""

from vllmwatch.catalog.alerts.caches._cases import cases_of_a_drop
from vllmwatch.spec.alert import Alert, Board, Severity, Subject

ALERT = Alert(
    name="SpeculationAcceptanceDropped",
    theme="caches",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression=(
        "vllmwatch:model:accepted_draft_tokens:ratio_avg30m"
        " < 0.5 * vllmwatch:model:accepted_draft_tokens:ratio_avg24h\n"
        "and vllmwatch:model:accepted_draft_tokens:ratio_avg24h > 0.2\n"
        "and vllmwatch:model:draft_tokens:avg30m > 10"
    ),
    hold="30m",
    keep_firing="15m",
    summary="Speculation for {{ $labels.model_name }} guesses wrong",
    description=(
        "{{ $value | humanizePercentage }} of the tokens proposed for {{ $labels.model_name }} in the last 30 minutes "
        "were accepted, less than half of the share in the day before."
    ),
    board=Board.SERVER,
    causes=("ModelWithoutServer", "VllmServerDown"),
    cases=cases_of_a_drop("vllm:spec_decode_num_accepted_tokens_total", "vllm:spec_decode_num_draft_tokens_total", 10),
)
