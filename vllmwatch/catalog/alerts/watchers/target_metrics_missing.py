"""A server answers, and its page lacks what alerts are made of.

## What it means

For a quarter of an hour a server was up, and the figure named in `figure` could not be told of it: its page lacks the
metric. Releases of vLLM rename metrics; the exporter knows the names up to the release that
`docs/reference/metrics.md` names.

## Why it matters

Alerts on this figure are silent for this server, and nobody would notice.

## First look

- `curl -s http://SERVER/metrics | grep '^# TYPE vllm'`: which families are there?
- `vllmwatch_target_info{server="…"}`: the release of the server, and `vllmwatch_build_info` that of the exporter.
- `vllmwatch_target_dropped_samples{server="…"}`: was something left out?

## What to do

1. The server was started with `--disable-log-stats`: start it without.
2. The server is newer than the exporter knows: take a newer vllmwatch.
3. Otherwise a bug report with the page helps all.

## When it lies

Something other than a server with a model, which has some of vLLM's families, was named as a target.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine, of_server, target
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_UP = "vllmwatch_target_up"
_RUNNING = "vllm:num_requests_running"
_KV = "vllm:kv_cache_usage_perc"
_PROMPT = "vllm:prompt_tokens_total"
_FIGURES = (
    ("requests_running", "vllmwatch:server:requests_running:sum"),
    ("kv_cache_usage", "vllmwatch:server:kv_cache_usage_ratio:max"),
    ("prompt_tokens", "vllmwatch:server:prompt_tokens:rate5m"),
)


def _who(figure: str) -> dict[str, str]:
    return {"node": NODE, "server": SERVER, "model_name": MODEL, "figure": figure}


def _missing(figure: str, recording: str) -> str:
    return (
        "label_replace(\n(vllmwatch:server:info:now and on (node, server) "
        "(max by (node, server) (vllmwatch_target_up) == 1))\n"
        f"unless on (node, server) {recording},\n"
        f'"figure", "{figure}", "", "")'
    )


ALERT = Alert(
    name="TargetMetricsMissing",
    theme="watchers",
    subject=Subject.SERVER,
    own_labels=("figure",),
    severity=Severity.TICKET,
    expression="\nor\n".join(_missing(figure, recording) for figure, recording in _FIGURES),
    hold="15m",
    summary="The metrics page of {{ $labels.server }} lacks {{ $labels.figure }}",
    description=(
        "{{ $labels.server }} is up ({{ $value }}), and {{ $labels.figure }} is not known of it: its metrics page "
        "lacks what tells that."
    ),
    board=Board.WATCHERS,
    cases=(
        fires(
            "an upgrade takes the use of the KV cache away",
            target(steady(1, "1h")),
            of_server(_UP, steady(1, "1h")),
            of_engine(_RUNNING, steady(1, "1h")),
            of_engine(_KV, then(steady(0.2, "10m"), "stale")),
            of_engine(_PROMPT, rising(1, "1h")),
            at("20m"),
            at("30m", _who("kv_cache_usage")),
        ),
        quiet(
            "a server that idles tells all",
            target(steady(1, "1h")),
            of_server(_UP, steady(1, "1h")),
            of_engine(_RUNNING, steady(0, "1h")),
            of_engine(_KV, steady(0, "1h")),
            of_engine(_PROMPT, steady(0, "1h")),
            at("50m"),
        ),
        quiet(
            "a server that is down tells nothing",
            target(steady(1, "1h")),
            of_server(_UP, steady(0, "1h")),
            at("50m"),
        ),
        messy(
            "of two servers one tells nothing; both are scraped twice, and away for a while",
            target(steady(1, "1h")),
            target(steady(1, "1h"), job="again"),
            target(steady(1, "1h"), server="box:8001"),
            of_server(_UP, then(steady(1, "20m"), missing("2m"), steady(1, "38m"))),
            of_server(_UP, steady(1, "1h"), job="again"),
            of_server(_UP, steady(1, "1h"), server="box:8001"),
            *(
                of_engine(name, values, server="box:8001")
                for name, values in ((_RUNNING, steady(1, "1h")), (_KV, steady(0.1, "1h")), (_PROMPT, rising(1, "1h")))
            ),
            at("50m", *(_who(figure) for figure, _ in _FIGURES)),
        ),
    ),
)
