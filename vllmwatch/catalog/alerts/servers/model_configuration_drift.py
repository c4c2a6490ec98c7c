"""Servers of one model differ in their version or in the configuration of their KV cache.

## What it means

For two hours the servers of a model that are up had more than one version of vLLM, or more than one setting of the KV
cache (block size, data type, prefix caching, share of memory). A rollout is over by then.

## Why it matters

The same request gets another answer, another speed or another limit, depending on where it lands; comparisons between
servers mislead.

## First look

- `vllmwatch_target_info{model_name="…"}`: the version of each server.
- `vllm:cache_config_info`: the settings of each; compare the labels.
- `vllmwatch:model:versions:count` and `vllmwatch:model:cache_configurations:count`: since when.

## What to do

1. Roll out what was left behind.
2. The servers are meant to differ (two kinds of cards): serve them under two names, or silence this for the model.

## When it lies

A comparison of two releases that is meant to last.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, of_server, series, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, steady, then

_UP = "vllmwatch_target_up"
_CACHE = "vllm:cache_config_info"
_A, _B = "box:8000", "box:8001"
_WHO = {"model_name": MODEL}


ALERT = Alert(
    name="ModelConfigurationDrift",
    theme="servers",
    subject=Subject.MODEL,
    severity=Severity.TICKET,
    expression="(vllmwatch:model:versions:count > 1) or (vllmwatch:model:cache_configurations:count > 1)",
    hold="2h",
    summary="Servers of {{ $labels.model_name }} differ in version or configuration",
    description="There are {{ $value }} different versions, or cache configurations, of {{ $labels.model_name }}.",
    board=Board.SERVER,
    cases=(
        fires(
            "two versions for more than two hours",
            target(steady(1, "5h"), server=_A, version="0.31.0"),
            target(steady(1, "5h"), server=_B, version="0.32.0"),
            of_server(_UP, steady(1, "5h"), server=_A),
            of_server(_UP, steady(1, "5h"), server=_B),
            at("119m"),
            at("2h5m", _WHO),
        ),
        fires(
            "two block sizes for more than two hours",
            target(steady(1, "5h"), server=_A),
            target(steady(1, "5h"), server=_B),
            of_server(_UP, steady(1, "5h"), server=_A),
            of_server(_UP, steady(1, "5h"), server=_B),
            series(_CACHE, steady(1, "5h"), node=NODE, server=_A, engine="0", block_size="16"),
            series(_CACHE, steady(1, "5h"), node=NODE, server=_B, engine="0", block_size="32"),
            at("2h5m", _WHO),
        ),
        quiet(
            "a rollout that takes an hour and a half",
            target(then(steady(1, "100m"), "stale"), server=_A, version="0.31.0"),
            target(then(*("_" for _ in range(428)), steady(1, "200m")), server=_A, version="0.32.0"),
            target(steady(1, "5h"), server=_B, version="0.32.0"),
            of_server(_UP, steady(1, "5h"), server=_A),
            of_server(_UP, steady(1, "5h"), server=_B),
            at("99m"),
            at("4h"),
        ),
        messy(
            "the server of the other version is down; one is scraped twice; all have one configuration",
            series(_CACHE, steady(1, "5h"), node=NODE, server=_A, engine="0", block_size="16"),
            series(_CACHE, steady(1, "5h"), node=NODE, server=_B, engine="0", block_size="16"),
            series(_CACHE, steady(1, "5h"), node=NODE, server=_B, engine="1", block_size="16"),
            target(steady(1, "5h"), server=_A, version="0.31.0"),
            target(steady(1, "5h"), server=_B, version="0.32.0"),
            target(steady(1, "5h"), server=_B, version="0.32.0", job="again"),
            of_server(_UP, steady(0, "5h"), server=_A),
            of_server(_UP, steady(1, "5h"), server=_B),
            of_server(_UP, steady(1, "5h"), server=_B, job="again"),
            at("4h"),
        ),
    ),
)
