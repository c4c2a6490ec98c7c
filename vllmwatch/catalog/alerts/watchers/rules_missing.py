"""Prometheus has the exporter's series, and not what the rules make of them.

## What it means

Servers or GPUs are watched, and for a quarter of an hour a recording that every one of them has is absent: a rule file
is not loaded, or an older one is. The label `theme` names the file (`rules/THEME.yml`).

## Why it matters

Alerts and boards lean on the recordings. Without them they are silent and empty, and look as if all were well.

## First look

- Prometheus' page `/rules`: is a group `vllmwatch-…` of this theme there?
- Prometheus' page `/config`: does its list of rule files name the folder?
- `promtool check rules rules/*.yml` where they lie: a file that is refused keeps all others from being loaded anew.

## What to do

1. Write the rules anew: `vllmwatch rules --output FOLDER`, all files of one version, and have Prometheus reload.
2. In Kubernetes: does the selector of rules match the labels of yours?

## When it lies

After Prometheus began with an empty store, a rate needs two scrapes; the alert waits for a quarter of an hour.
"""

from vllmwatch.catalog.recordings.stories.words import SERVER, of_engine, of_gpu, of_server, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then
from vllmwatch.spec.promql import either
from vllmwatch.spec.story import Series

_UP = "count(vllmwatch_target_up == 1)"
_SERVES = "count(vllmwatch:server:info:now and on (node, server) vllmwatch_target_up == 1)"
_GPUS = "count(vllmwatch_gpu_temperature_celsius)"
# What is there, and what each rule file makes of it at the least.
_EXPECTED = (
    ("join", _UP, "vllmwatch:server:info:now"),
    ("saturation", _SERVES, "vllmwatch:engine:requests_running:max"),
    ("traffic", _SERVES, "vllmwatch:engine:prompt_tokens:rate5m"),
    ("gpus", _GPUS, "vllmwatch:node:gpus_up:count"),
)
_RUNNING, _PROMPTS = "vllm:num_requests_running", "vllm:prompt_tokens_total"
_TEMPERATURE, _THERE = "vllmwatch_gpu_temperature_celsius", "vllmwatch_gpu_up"


def _server(up: str, running: str, prompts: str, server: str = SERVER) -> tuple[Series, ...]:
    """Return a server whose rules make of it what is given here."""
    return (
        target(up, server=server),
        of_server("vllmwatch_target_up", up, server=server),
        *([of_engine(_RUNNING, running, server=server)] if running else []),
        *([of_engine(_PROMPTS, prompts, server=server)] if prompts else []),
    )


ALERT = Alert(
    name="RulesMissing",
    theme="watchers",
    subject=Subject.STACK,
    own_labels=("theme",),
    severity=Severity.TICKET,
    expression=either(
        *(
            f'label_replace({premise} unless on () count({recording}), "theme", "{theme}", "", "")'
            for theme, premise, recording in _EXPECTED
        )
    ),
    hold="15m",
    summary="Prometheus lacks the recordings of rules/{{ $labels.theme }}.yml",
    description="{{ $value }} series are there of which rules/{{ $labels.theme }}.yml should record something.",
    board=Board.WATCHERS,
    cases=(
        fires(
            "servers and GPUs are there, and nothing is recorded of who they are and how many",
            of_server("vllmwatch_target_up", steady(1, "50m")),
            of_gpu(_TEMPERATURE, steady(50, "50m"), "GPU-1"),
            at("14m"),
            at("17m", {"theme": "join"}, {"theme": "gpus"}),
        ),
        fires(
            "of a server that is up nothing is recorded of traffic from a certain time on",
            *_server(steady(1, "70m"), steady(2, "70m"), then(rising(9, "20m"), missing("50m"))),
            at("38m"),
            at("45m", {"theme": "traffic"}),
        ),
        fires(
            "and none of saturation",
            *_server(steady(1, "70m"), then(steady(2, "20m"), missing("50m")), rising(9, "70m")),
            at("34m"),
            at("42m", {"theme": "saturation"}),
        ),
        quiet(
            "all is recorded; another server is down",
            *_server(steady(1, "50m"), steady(0, "50m"), steady(7, "50m")),
            *_server(steady(0, "50m"), "", "", server="box:8001"),
            of_gpu(_TEMPERATURE, steady(50, "50m"), "GPU-1"),
            of_gpu(_THERE, steady(1, "50m"), "GPU-1"),
            at("20m"),
            at("45m"),
        ),
        messy(
            "no server is up; Prometheus was away for a while; one of two servers has an empty page",
            *_server(steady(0, "20m"), "", "", server="box:8002"),
            *_server(
                then(missing("20m"), steady(1, "10m"), missing("6m"), steady(1, "30m")),
                then(missing("20m"), steady(0, "10m"), missing("6m"), steady(0, "30m")),
                then(missing("20m"), steady(0, "10m"), missing("6m"), steady(0, "30m")),
            ),
            *_server(then(missing("20m"), steady(1, "46m")), "", "", server="box:8001"),
            at("19m"),
            at("30m"),
            at("60m"),
        ),
    ),
)
