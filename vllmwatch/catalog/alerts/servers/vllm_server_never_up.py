"""A server that is watched has not answered once.

## What it means

This server has been watched for twenty minutes or more, and has not given its metrics once within six hours. It is in
the configuration, in a file of targets, or its process was found. `VllmServerDown` tells of one that was up.

## Why it matters

A model that does not come up serves nobody, and nothing else is known of it, so no other alert can speak of it.

## First look

- `curl -s 127.0.0.1:9836/debug/last` on the host that the label `node` names: the reason, and what it answered instead.
- `vllmwatch_target_error{server="…"}`: `loading` is a process without a port, `unresolved` a wrong name,
  `unauthorized` a missing token, `no_vllm_families` another program, or `--disable-log-stats`.
- The log of the server: `EngineCore failed to start`, a download that stands still, `out of memory`.

## What to do

1. It still loads (a large model from a slow disk): wait; the log says how far it is.
2. The address is wrong: mend `targets` in vllmwatch.yml and send SIGHUP to the exporter.
3. It cannot start: the traceback in its log says why; free GPU memory (`nvidia-smi`) is the commonest.

## When it lies

A first download of hundreds of gigabytes takes longer than twenty minutes.
"""

from vllmwatch.catalog.recordings.stories.words import NODE, SERVER, of_server
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, messy, missing, quiet, rising, steady, then

_UP = "vllmwatch_target_up"
_SUCCESS = "vllmwatch_target_last_success_timestamp_seconds"
_WHO = {"node": NODE, "server": SERVER, "model_name": ""}

ALERT = Alert(
    name="VllmServerNeverUp",
    theme="servers",
    subject=Subject.SERVER,
    severity=Severity.TICKET,
    expression=(
        "time() - min by (node, server) (min_over_time(timestamp(vllmwatch_target_up)[6h:1m]))\n"
        "and on (node, server) (max by (node, server) (vllmwatch_target_up) == 0)\n"
        "unless on (node, server) max by (node, server) (vllmwatch_target_last_success_timestamp_seconds)\n"
        "unless on (node, server) (max by (node, server) (max_over_time(vllmwatch_target_up[6h])) == 1)"
    ),
    hold="20m",
    summary="{{ $labels.server }} has not answered once",
    description="{{ $labels.server }} has been watched for {{ $value | humanizeDuration }} and has not answered once.",
    board=Board.SERVER,
    cases=(
        fires(
            "known for twenty minutes and never up",
            of_server(_UP, steady(0, "1h")),
            at("19m"),
            at("22m", _WHO),
        ),
        quiet(
            "it comes up after nineteen minutes",
            of_server(_UP, then(steady(0, "19m"), steady(1, "41m"))),
            of_server(_SUCCESS, then(missing("19m"), rising(1, "41m", 1140))),
            at("25m"),
        ),
        quiet(
            "it was up until the exporter began anew, which is another fault",
            of_server(_UP, then(steady(1, "10m"), steady(0, "50m"))),
            of_server(_SUCCESS, then(rising(1, "10m"), "stale")),
            at("50m"),
        ),
        quiet(
            "it was never up and is watched no more",
            of_server(_UP, then(steady(0, "10m"), "stale")),
            at("40m"),
        ),
        messy(
            "it was up long ago; another was not; both are scraped twice",
            of_server(_UP, steady(0, "1h"), server="box:8001"),
            of_server(_SUCCESS, steady(5, "1h"), server="box:8001"),
            of_server(_UP, steady(0, "1h")),
            of_server(_UP, steady(0, "1h"), job="again"),
            at("40m", _WHO),
        ),
    ),
)
