"""KV that a prefill server kept for a decode server was not fetched in time.

## What it means

At least ten requests in ten minutes, for five minutes: their KV waited on the prefill server until its time was over
and was thrown away. With NIXL that is `kv_lease_duration` in `kv_connector_extra_config` (30 s, renewed by the decode
server; older releases of vLLM have `VLLM_NIXL_ABORT_REQUEST_TIMEOUT`, 480 s), with Mooncake
`VLLM_MOONCAKE_ABORT_REQUEST_TIMEOUT` (480 s).

## Why it matters

Until then it took room from other requests, so a prefill server fills up with KV that nobody fetches; and who asked was
answered late, or not at all.

## First look

- `vllmwatch:engine:requests_kv_expired:increase10m`: on which prefill servers?
- Are the decode servers up, and do they queue? `vllmwatch:engine:requests_waiting:max`.
- The log of the router: do clients give up between prefill and decode?

## What to do

1. Decode is too slow: more decode servers, or fewer prefill servers.
2. Clients give up: the router must end the request on both sides.

## When it lies

A decode server that went away takes the requests with it; those expire minutes after the page for it.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, then

_EXPIRED = "vllm:nixl_num_kv_expired_reqs_total"
_WHO = {"node": NODE, "server": SERVER, "engine": "0", "model_name": MODEL}

ALERT = Alert(
    name="KvExpired",
    theme="transfer",
    subject=Subject.ENGINE,
    severity=Severity.TICKET,
    expression="vllmwatch:engine:requests_kv_expired:increase10m >= 10",
    hold="5m",
    keep_firing="5m",
    summary="Nobody fetches the KV that {{ $labels.server }} keeps ({{ $labels.model_name }})",
    description=(
        "The KV of {{ $value | humanize }} requests on engine {{ $labels.engine }} of {{ $labels.server }} was not "
        "fetched in time within ten minutes."
    ),
    board=Board.SERVER,
    causes=("VllmServerDown",),
    cases=(
        fires(
            "two requests a minute expire",
            of_engine(_EXPIRED, flowing((0, "20m"), (1 / 30, "40m"))),
            at("27m"),
            at("35m", _WHO),
        ),
        quiet(
            "nine in ten minutes",
            of_engine(_EXPIRED, rising(9 / 600, "1h")),
            at("50m"),
        ),
        messy(
            "one of two engines, by Mooncake; scraped twice; away for a minute",
            of_engine(_EXPIRED, rising(0, "1h")),
            *(
                of_engine(
                    "vllm:mooncake_num_kv_expired_reqs_total",
                    then(rising(0.1, "30m"), missing("1m"), rising(0.1, "29m", 180)),
                    job=job,
                )
                for job in ("vllmwatch", "again")
            ),
            of_engine("vllm:mooncake_num_kv_expired_reqs_total", rising(0, "1h"), engine="1"),
            at("25m", _WHO),
            at("55m", _WHO),
        ),
    ),
)
