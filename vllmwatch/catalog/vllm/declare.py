"""Short words in which the files beside this one declare vLLM's metrics."""

from functools import partial

from vllmwatch.spec.upstream import NEWEST, Name, Scope, UpstreamKind, UpstreamMetric, Version

ENGINE = Scope.ENGINE
SERVER = Scope.SERVER


def name(exposed: str, since: str, until: str = str(NEWEST), *, help_contains: str = "") -> Name:
    """Declare a name as exposed, with the first and the last release that has it."""
    return Name(exposed, Version.parse(since), Version.parse(until), help_contains)


def _declare(
    kind: UpstreamKind,
    *names: Name,
    says: str,
    unit: str,
    scope: Scope = ENGINE,
    labels: tuple[str, ...] = (),
    condition: str = "",
    unknown_value: float | None = None,
) -> UpstreamMetric:
    return UpstreamMetric(says, kind, unit, scope, names, labels, condition, unknown_value)


gauge = partial(_declare, UpstreamKind.GAUGE)
counter = partial(_declare, UpstreamKind.COUNTER)
histogram = partial(_declare, UpstreamKind.HISTOGRAM)
summary = partial(_declare, UpstreamKind.SUMMARY)
