"""The units a metric of ours may have, each with its name suffix and its Grafana format."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """A base unit.

    `word` is what the reference pages print, `suffix` is how names in this unit end (empty: no suffix asked),
    `grafana` is the id of Grafana's value format.
    """

    word: str
    suffix: str
    grafana: str


BYTES = Unit("bytes", "_bytes", "bytes")
CELSIUS = Unit("degrees Celsius", "_celsius", "celsius")
HERTZ = Unit("hertz", "_hertz", "hertz")
JOULES = Unit("joules", "_joules", "joule")
SECONDS = Unit("seconds", "_seconds", "s")
TIMESTAMP = Unit("seconds since the epoch", "_timestamp_seconds", "dateTimeAsIso")
WATTS = Unit("watts", "_watts", "watt")
RATIO = Unit("ratio, 0 to 1", "_ratio", "percentunit")
INFO = Unit("always 1; the facts are in the labels", "_info", "none")
BOOLEAN = Unit("1 yes, 0 no", "", "bool_yes_no")
BYTES_PER_SECOND = Unit("bytes a second", "_bytes_per_second", "Bps")
FLOPS = Unit("floating-point operations a second", "_flops", "flops")
PRICE = Unit("price, in the currency of the settings", "", "none")
COUNT = Unit("count", "", "short")
NUMBER = Unit("number", "", "none")

UNITS: tuple[Unit, ...] = (
    BYTES,
    CELSIUS,
    HERTZ,
    JOULES,
    SECONDS,
    TIMESTAMP,
    WATTS,
    RATIO,
    INFO,
    BOOLEAN,
    BYTES_PER_SECOND,
    FLOPS,
    PRICE,
    COUNT,
    NUMBER,
)
