"""Requests wait on an engine that runs none.

## What it means

For five minutes requests waited on an engine that ran none and made no step. The engine is not full: it does not begin
with what waits.

## Why it matters

Everybody who asks waits for ever, while `/health` answers 200.

## First look

- `vllm:num_requests_waiting_by_reason`: `deferred` waits for a KV transfer or a LoRA slot, `capacity` for room.
- `vllmwatch:engine:kv_cache_usage_ratio:max`: blocks held by a connector leave no room for the first request.

## What to do

1. A prompt is longer than the KV cache holds: it can never run. Restart, and lower `--max-model-len`.
2. Otherwise `py-spy dump --pid PID` of `VLLM::EngineCore` (`pgrep -af VLLM::` has its number), and restart.

## When it lies

A server of the decode side waits for KV from a prefill server that is down: look there first. A program that paused the
engine (`/pause`, for new weights) and takes more than five minutes looks the same.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_WHO = {"node": NODE, "server": SERVER, "engine": "0", "model_name": MODEL}

ALERT = Alert(
    name="VllmSchedulerStalled",
    theme="servers",
    subject=Subject.ENGINE,
    severity=Severity.PAGE,
    expression="vllmwatch:engine:requests_stalled:min2m > 0",
    hold="3m",
    keep_firing="2m",
    summary="Requests wait and none runs on {{ $labels.server }} ({{ $labels.model_name }})",
    description="{{ $value }} requests wait on engine {{ $labels.engine }} of {{ $labels.server }}, which runs none.",
    board=Board.SERVER,
    causes=("VllmServerDown", "VllmEngineStuck", "VllmAsleepWithTraffic"),
    cases=(
        fires(
            "three requests wait and nothing runs",
            of_engine(_RUNNING, then(steady(4, "10m"), steady(0, "20m"))),
            of_engine(_WAITING, steady(3, "30m")),
            at("14m"),
            at("17m", _WHO),
        ),
        quiet(
            "one runs",
            of_engine(_RUNNING, steady(1, "30m")),
            of_engine(_WAITING, steady(300, "30m")),
            at("25m"),
        ),
        quiet(
            "a batch for an embedding model: each step is done with all that it took, so none ever counts as running",
            of_engine(_RUNNING, steady(0, "30m")),
            of_engine(_WAITING, steady(40, "30m")),
            of_engine("vllm:prompt_tokens_total", rising(900, "30m")),
            of_engine("vllm:generation_tokens_total", steady(0, "30m")),
            at("25m"),
        ),
        quiet(
            "idle",
            of_engine(_RUNNING, steady(0, "30m")),
            of_engine(_WAITING, steady(0, "30m")),
            at("25m"),
        ),
        messy(
            "of two engines one stalls; scraped twice, and away for a minute",
            of_engine(_RUNNING, then(steady(0, "10m"), missing("1m"), steady(0, "29m"))),
            of_engine(_WAITING, then(steady(2, "10m"), missing("1m"), steady(2, "29m"))),
            of_engine(_RUNNING, steady(0, "40m"), job="again"),
            of_engine(_WAITING, steady(2, "40m"), job="again"),
            of_engine(_RUNNING, steady(5, "40m"), engine="1"),
            of_engine(_WAITING, steady(2, "40m"), engine="1"),
            at("9m", _WHO),
            at("30m", _WHO),
        ),
    ),
)
