"""More than one in twenty HTTP requests to a server is answered with an error of the server.

## What it means

For three minutes more than 5 % of the HTTP requests of the last ten minutes were answered with 5xx, and these were at
least five. Requests that vLLM refused with 503 since its queue was at the limit that you set are not counted; they are
a policy, and `RequestsRejected` tells of them.

## Why it matters

Clients get errors now. When an engine is dead and the server is told to stay (`VLLM_KEEP_ALIVE_ON_ENGINE_DEATH=1`),
every request ends so while `/metrics` answers as ever.

## First look

- `curl -i http://HOST:PORT/health`: 503 says that the engine is dead.
- `rate(http_requests_total{server="…", status="5xx"}[5m])` by `handler`: which requests?
- `docker logs NAME 2>&1 | grep -B2 -A20 Traceback`, or `journalctl -u UNIT`: the first error is the cause.
- `vllmwatch:server:restarts:increase1h`: does it start again and again?

## What to do

1. The engine is dead: keep the log and start the server anew; look for an XID in `dmesg` first.
2. Since a deploy: roll back.
3. One kind of request only: find who sends it; a request that makes the server fail is a bug to report to vLLM.
4. All servers: look at what they share, such as the store of adapters or the prefill servers.

## When it lies

A server that is gone answers nothing and counts no errors: `VllmServerDown` tells of it. Requests that failed after
their answer began count as 2xx (`VllmRequestErrorsHigh`). What stands before the server has errors of its own.
"""

from vllmwatch.catalog.alerts.errors._series import OF_SERVER, answered, known, refused
from vllmwatch.spec.alert import Alert, Board, Severity, Subject
from vllmwatch.spec.case import at, fires, flowing, messy, missing, quiet, rising, steady, then

ALERT = Alert(
    name="VllmHttpErrorsHigh",
    theme="errors",
    subject=Subject.SERVER,
    severity=Severity.PAGE,
    expression=(
        "vllmwatch:server:http_errors:ratio_increase10m > 0.05\nand vllmwatch:server:http_errors:increase10m >= 5"
    ),
    hold="3m",
    keep_firing="5m",
    summary="{{ $labels.server }} ({{ $labels.model_name }}) answers with errors",
    description=(
        "{{ $value | humanizePercentage }} of the HTTP requests to {{ $labels.server }} in the last 10 minutes were "
        "answered with 5xx, refusals for a full queue left out."
    ),
    board=Board.SERVER,
    causes=("GpuLost", "ModelWithoutServer", "VllmServerDown"),
    cases=(
        fires(
            "a tenth of 120 fail",
            *known("70m"),
            answered("2xx", rising(0.18, "70m", begin=900)),
            answered("5xx", flowing((0, "15m"), (0.02, "25m"), (0, "30m"), begin=70)),
            at("15m"),
            at("25m", OF_SERVER),
            at("65m"),
        ),
        fires(
            "forty first errors at once, whose counter comes into being with them",
            *known("50m"),
            answered("2xx", rising(0.3, "50m", begin=900)),
            answered("5xx", then(missing("20m"), steady(40, "30m"))),
            at("21m"),
            at("26m", OF_SERVER),
            at("45m"),
        ),
        quiet(
            "a quarter is refused for a full queue, 3 % fail; a tenth fails, which is four; many fail for two minutes",
            *(series for number in (1, 2, 3) for series in known("40m", f"box:{number}")),
            answered("2xx", rising(0.72, "40m"), "box:1"),
            answered("5xx", rising(0.28, "40m"), "box:1"),
            refused(rising(0.25, "40m"), "box:1"),
            answered("2xx", rising(0.06, "40m"), "box:2"),
            answered("5xx", rising(0.0067, "40m"), "box:2"),
            answered("2xx", rising(1, "40m"), "box:3"),
            answered("5xx", flowing((0, "29m"), (1, "11m")), "box:3"),
            at("25m"),
            at("31m"),
        ),
        messy(
            "four errors scraped twice; one error alone; a restart; a server that is found late; another program",
            *(series for number in range(1, 4) for series in known("60m", f"box:{number}")),
            *known("60m"),
            answered("2xx", rising(0.06, "60m"), "box:1"),
            answered("5xx", rising(0.0067, "60m"), "box:1"),
            answered("5xx", rising(0.0067, "60m"), "box:1", job="again"),
            answered("5xx", then(missing("20m"), steady(1, "40m")), "box:2"),
            answered("2xx", then(rising(1, "20m", begin=9000), missing("3m"), rising(0.1, "37m")), "box:3"),
            answered("5xx", then(steady(300, "20m"), missing("3m"), steady(4, "37m")), "box:3"),
            answered("5xx", then(missing("20m"), steady(900, "40m")), "box:4"),
            answered("5xx", rising(5, "60m"), "box:5"),
            answered("2xx", rising(0.4, "60m")),
            answered("5xx", rising(0.04, "60m")),
            at("26m", OF_SERVER),
            at("30m", OF_SERVER),
        ),
    ),
)
