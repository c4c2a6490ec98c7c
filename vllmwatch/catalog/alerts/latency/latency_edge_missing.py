"""A server counts requests, and not at the edge at which a latency of its model is to be counted.

## What it means

The server's histogram of a latency has no bucket at the threshold that the label `setting` names, so what is slower
than it cannot be counted, and for this server the alerts on that latency are silent.

## Why it matters

A rule without its data looks like a rule that finds nothing wrong. Of a model whose other servers have the edge the
share is of those alone.

## First look

- `curl -s http://HOST:PORT/metrics | grep e2e_request_latency_seconds_bucket`: which edges (`le`) has the server?
  The other latencies are `time_to_first_token_seconds`, `inter_token_latency_seconds`, `request_queue_time_seconds`.
- `vllmwatch_target_info{server="…"}`: its version. vLLM before 0.6.4 has other edges.
- Was it started with `--custom-histogram-buckets`?

## What to do

1. Set the threshold to an edge that the server has, for this model alone under `models`, and write the rules anew with
   `vllmwatch rules --output FOLDER`. One that vLLM has not by itself is to be named (`request_latency_edges`).
2. Or give the server the edge: `--custom-histogram-buckets` replaces all edges of a latency, so name the others too.
3. Or upgrade vLLM, so that all servers of the model have the same edges.

## When it lies

It needs traffic to tell, so an idle server is not told of. In the first minutes after a rollout from servers with one
layout to another both are there; the alert waits for a quarter of an hour.
"""

from vllmwatch.catalog.alerts.latency._series import timed
from vllmwatch.catalog.latencies import FIRST_TOKEN, INTER_TOKEN, QUEUE, REQUEST, Latency
from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.catalog.thresholds import FIRST_TOKEN as FIRST_TOKEN_THRESHOLD
from vllmwatch.catalog.thresholds import INTER_TOKEN as INTER_TOKEN_THRESHOLD
from vllmwatch.catalog.thresholds import QUEUE_TIME, REQUEST_LATENCY
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, quiet, rising
from vllmwatch.spec.story import Series

_SETTINGS: tuple[tuple[Latency, str, str], ...] = (
    (REQUEST, REQUEST_LATENCY.key, "2.0"),
    (FIRST_TOKEN, FIRST_TOKEN_THRESHOLD.key, "2.5"),
    (INTER_TOKEN, INTER_TOKEN_THRESHOLD.key, "0.1"),
    (QUEUE, QUEUE_TIME.key, "1.0"),
)


def _lacking(latency: Latency, setting: str) -> str:
    """Return the servers that time a latency and do not count it at the edge."""
    timing = f'vllmwatch:server:{latency.word}_bucket:rate5m{{le="+Inf"}}'
    return (
        f"label_replace(\nmax by (node, server, model_name) ({timing} > 0)\n"
        f"unless vllmwatch:server:{latency.word}_observed:increase10m,\n"
        f'"setting", "{setting}", "", "")'
    )


def _missing(setting: str, server: str = SERVER) -> dict[str, str]:
    return {"node": NODE, "server": server, "model_name": MODEL, "setting": setting}


def _infinite(latency: Latency, per_second: float, lasts: str, server: str = SERVER) -> Series:
    return of_engine(f"{latency.metric}_bucket", rising(per_second, lasts, begin=50), server=server, le="+Inf")


def _of(latency: Latency, edge: str, per_second: float, server: str = SERVER) -> tuple[Series, ...]:
    """Return a histogram of two buckets, the last of which has all."""
    return (
        *timed(latency, edge, (per_second, 0, "1h"), begin=50, server=server),
        _infinite(latency, per_second, "1h", server),
    )


ALERT = Alert(
    name="LatencyEdgeMissing",
    theme="latency",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    own_labels=("setting",),
    expression="\nor\n".join(_lacking(latency, setting) for latency, setting, _ in _SETTINGS),
    hold="15m",
    keep_firing="1h",
    summary="{{ $labels.server }} is not counted at {{ $labels.setting }}",
    description=(
        "The latencies of {{ $labels.model_name }} on {{ $labels.server }} have no bucket edge at "
        "{{ $labels.setting }}, so {{ $value | humanize }} of them a second are judged by no alert."
    ),
    board=Board.SERVER,
    cases=(
        fires(
            "no latency has its edge",
            *(series for latency, _, _ in _SETTINGS for series in _of(latency, "0.6", 1)),
            at("12m"),
            at("20m", *(_missing(setting) for _, setting, _ in _SETTINGS)),
        ),
        fires(
            "of two servers one has no edge at 2 s",
            *_of(REQUEST, "2.0", 1),
            *_of(REQUEST, "2.5", 1, "box:8001"),
            at("40m", _missing(REQUEST_LATENCY.key, "box:8001")),
        ),
        quiet("every edge is there", *(s for latency, _, edge in _SETTINGS for s in _of(latency, edge, 1)), at("40m")),
        quiet(
            "nobody asks the server without an edge",
            *(series for latency, _, _ in _SETTINGS for series in _of(latency, "0.6", 0)),
            at("40m"),
        ),
        quiet("ten minutes of a server that is rolled out", _infinite(REQUEST, 1, "10m"), at("14m"), at("18m")),
        messy(
            "the edge is there though one engine is idle, one is new, and all is scraped twice",
            *_of(REQUEST, "2.0", 1),
            *timed(REQUEST, "2.0", (1, 0, "1h"), begin=50, job="again"),
            *timed(REQUEST, "2.0", (0, 0, "1h"), engine="1"),
            of_engine(f"{REQUEST.metric}_bucket", f"_x100 {rising(1, '30m')}", engine="2", le="+Inf"),
            at("40m"),
        ),
    ),
)
