"""Requests come to an engine that was put to sleep.

## What it means

For two minutes an engine had requests and slept: its weights are off the GPU, or gone, until somebody wakes it.

## Why it matters

The requests hang until their clients give up. `/health` answers 200, so a router goes on sending.

## First look

- `vllm:engine_sleep_state{server="…"}`: since when, and how deeply? After `discard_all` weights must be read anew.
- The log of the server: who called `/sleep`?
- `vllmwatch:engine:requests_asleep:now`: how many wait.

## What to do

1. Wake it: `curl -X POST http://SERVER/wake_up` (there only with `VLLM_SERVER_DEV_MODE=1`), or restart the server.
2. It was to sleep: take it out of the router.
3. A program puts it to sleep (training between rollouts, a switcher of models): it must drain the requests first.

## When it lies

A switcher of models that wakes the engine on the first request, and takes longer than two minutes to do so.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, steady, then

_RUNNING = "vllm:num_requests_running"
_WAITING = "vllm:num_requests_waiting"
_STATE = "vllm:engine_sleep_state"
_WHO = {"node": NODE, "server": SERVER, "engine": "0", "model_name": MODEL}

ALERT = Alert(
    name="VllmAsleepWithTraffic",
    theme="servers",
    subject=Subject.ENGINE,
    severity=Severity.PAGE,
    expression="vllmwatch:engine:requests_asleep:now > 0",
    hold="2m",
    keep_firing="2m",
    summary="{{ $labels.server }} sleeps and has requests ({{ $labels.model_name }})",
    description="{{ $value }} requests wait for engine {{ $labels.engine }} of {{ $labels.server }}, which sleeps.",
    board=Board.SERVER,
    causes=("VllmServerDown",),
    cases=(
        fires(
            "it is put to sleep while requests wait",
            of_engine(_RUNNING, steady(0, "30m")),
            of_engine(_WAITING, steady(3, "30m")),
            of_engine(_STATE, then(steady(1, "10m"), steady(0, "20m")), sleep_state="awake"),
            at("11m30s"),
            at("13m", _WHO),
        ),
        quiet(
            "it sleeps and nobody asks",
            of_engine(_RUNNING, steady(0, "30m")),
            of_engine(_WAITING, steady(0, "30m")),
            of_engine(_STATE, steady(0, "30m"), sleep_state="awake"),
            at("25m"),
        ),
        quiet(
            "it is woken by the first request, within a minute",
            of_engine(_RUNNING, steady(0, "30m")),
            of_engine(_WAITING, then(steady(0, "10m"), steady(5, "20m"))),
            of_engine(_STATE, then(steady(0, "11m"), steady(1, "19m")), sleep_state="awake"),
            at("12m30s"),
            at("25m"),
        ),
        messy(
            "of three engines one sleeps, one is awake and one says nothing; scraped twice, and away for a minute",
            of_engine(_RUNNING, then(steady(0, "10m"), missing("1m"), steady(0, "29m"))),
            of_engine(_WAITING, then(steady(2, "10m"), missing("1m"), steady(2, "29m"))),
            of_engine(_STATE, then(steady(0, "10m"), missing("1m"), steady(0, "29m")), sleep_state="awake"),
            of_engine(_STATE, steady(1, "40m"), sleep_state="weights_offloaded"),
            of_engine(_WAITING, steady(2, "40m"), job="again"),
            *(
                of_engine(name, steady(2, "40m"), engine=engine)
                for engine in ("1", "2")
                for name in (_RUNNING, _WAITING)
            ),
            of_engine(_STATE, steady(1, "40m"), engine="1", sleep_state="awake"),
            at("9m", _WHO),
            at("30m", _WHO),
        ),
    ),
)
