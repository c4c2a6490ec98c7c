"""Transfers of KV between a prefill server and a decode server fail.

## What it means

For five minutes more than one transfer in a hundred failed, and at least five in ten minutes. NIXL counts a handshake
or a notification that failed among them.

## Why it matters

The decode server reads the whole prompt again, or ends the request with an error, as `kv_load_failure_policy` says.
Disaggregation then costs more than it saves.

## First look

- `vllmwatch:engine:kv_transfers_failed:ratio_increase10m`: one engine, or all that fetch from one prefill server?
- `vllmwatch_target_up`: is the prefill server up? A restart breaks the handshakes of all that knew it.
- The log for `NIXL`, `UCX` or `Mooncake`; `ibstat` or `rdma link` for the network.

## What to do

1. A prefill server began anew: restart the decode servers if they do not connect again by themselves.
2. A port of the side channel (`VLLM_NIXL_SIDE_CHANNEL_PORT`) is closed: open it between the servers.
3. Transfers time out under load: fewer requests for each prefill server.

## When it lies

A deploy of the prefill servers breaks transfers for as long as it lasts.
"""

from vllmwatch.catalog.recordings.stories.words import MODEL, NODE, SERVER, of_engine
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, steady, then

_FAILED = "vllm:nixl_num_failed_transfers_total"
_DONE = "vllm:nixl_xfer_time_seconds_count"
_WHO = {"node": NODE, "server": SERVER, "engine": "0", "model_name": MODEL}

ALERT = Alert(
    name="KvTransferFailing",
    theme="transfer",
    subject=Subject.ENGINE,
    severity=Severity.TICKET,
    expression=(
        "(vllmwatch:engine:kv_transfers_failed:ratio_increase10m > 0.01)\n"
        "and on (node, server, engine, model_name) (vllmwatch:engine:kv_transfers_failed:increase10m >= 5)"
    ),
    hold="5m",
    keep_firing="5m",
    summary="Transfers of KV to {{ $labels.server }} fail ({{ $labels.model_name }})",
    description=(
        "{{ $value | humanizePercentage }} of the transfers of KV of engine {{ $labels.engine }} of "
        "{{ $labels.server }} failed within ten minutes."
    ),
    board=Board.SERVER,
    causes=("VllmServerDown",),
    cases=(
        fires(
            "two transfers in a hundred begin to fail, seven in ten minutes",
            of_engine(_DONE, rising(0.588, "1h")),
            of_engine(_FAILED, flowing((0, "20m"), (0.012, "40m"))),
            at("28m"),
            at("40m", _WHO),
        ),
        quiet(
            "many fail, and they are one in two hundred",
            of_engine(_DONE, rising(20, "1h")),
            of_engine(_FAILED, rising(0.1, "1h")),
            at("50m"),
        ),
        quiet(
            "four of ten transfers failed in the ten minutes",
            of_engine(_DONE, rising(0.01, "1h")),
            of_engine(_FAILED, then(steady(0, "30m"), *(str(count) for count in (1, 2, 3)), steady(4, "25m"))),
            at("37m"),
            at("45m"),
        ),
        messy(
            "one of two engines, by Mooncake; scraped twice; away for a minute; the counters of NIXL stand at 0",
            *(of_engine(name, steady(0, "1h"), engine=engine) for name in (_DONE, _FAILED) for engine in ("0", "1")),
            *(
                of_engine(name, then(rising(speed, "30m"), missing("1m"), rising(speed, "29m")), job=job)
                for job in ("vllmwatch", "again")
                for name, speed in (
                    ("vllm:mooncake_xfer_time_seconds_count", 0.5),
                    ("vllm:mooncake_num_failed_recvs_total", 0.1),
                )
            ),
            of_engine("vllm:mooncake_xfer_time_seconds_count", rising(0.5, "1h"), engine="1"),
            of_engine("vllm:mooncake_num_failed_recvs_total", steady(0, "1h"), engine="1"),
            at("25m", _WHO),
            at("55m", _WHO),
        ),
    ),
)
