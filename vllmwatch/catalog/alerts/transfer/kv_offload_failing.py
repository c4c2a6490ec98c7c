"""Moves of KV to or from a tier below the GPU fail.

## What it means

At least five moves to or from a tier (host memory, a disk, an object store) failed in ten minutes, for five minutes.

## Why it matters

What cannot be read back is computed again from the prompt: the share of tokens from a cache falls, and time to first
token grows.

## First look

- `vllm:kv_offload_tiering_promotion_job_failures_total` and
  `vllm:kv_offload_tiering_cascade_job_failures_total` by `tier`: which tier, and reading or writing?
- `df -h` and `journalctl -k` for the disk of the tier; the log of the server for the first error.
- `vllmwatch:model:cached_prompt_tokens:ratio_rate5m`: has it fallen?

## What to do

1. The disk is full or broken: make room, or serve without this tier.
2. The store cannot be reached: look at its network and its credentials.

## When it lies

It counts failures and not what they cost; with few moves a day five may be an afternoon of the store.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, then

_PROMOTIONS = "vllm:kv_offload_tiering_promotion_job_failures_total"
_CASCADES = "vllm:kv_offload_tiering_cascade_job_failures_total"
_WHO = {"node": NODE, "server": SERVER, "engine": "0", "model_name": MODEL}

ALERT = Alert(
    name="KvOffloadFailing",
    theme="transfer",
    subject=Subject.ENGINE,
    severity=Severity.TICKET,
    expression="vllmwatch:engine:kv_offload_jobs_failed:increase10m >= 5",
    hold="5m",
    keep_firing="5m",
    summary="KV offload fails on {{ $labels.server }} ({{ $labels.model_name }})",
    description=(
        "{{ $value | humanize }} moves of KV of engine {{ $labels.engine }} of {{ $labels.server }} failed within ten "
        "minutes."
    ),
    board=Board.SERVER,
    causes=("VllmServerDown",),
    cases=(
        fires(
            "a disk is full: every write fails",
            of_engine(_CASCADES, flowing((0, "20m"), (0.1, "40m")), tier="fs"),
            at("22m"),
            at("35m", _WHO),
        ),
        quiet(
            "four in ten minutes",
            of_engine(_PROMOTIONS, rising(4 / 600, "1h"), tier="fs"),
            at("50m"),
        ),
        messy(
            "two tiers add up on one of two engines; scraped twice; away for a minute",
            *(
                of_engine(
                    _PROMOTIONS,
                    then(rising(0.006, "30m"), missing("1m"), rising(0.006, "29m", 10.8)),
                    tier=tier,
                    job=job,
                )
                for job in ("vllmwatch", "again")
                for tier in ("fs", "object")
            ),
            of_engine(_PROMOTIONS, rising(0, "1h"), engine="1", tier="fs"),
            at("25m", _WHO),
            at("55m", _WHO),
        ),
    ),
)
