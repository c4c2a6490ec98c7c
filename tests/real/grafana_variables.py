"""Variables as Grafana's Prometheus data source puts them into an expression.

A variable of several values, or with All, is escaped for a pattern within quotes; several values are joined by |, and
what stands for All is put in as it is. (Grafana's packages/grafana-prometheus: escaping.ts, interpolateQueryExpr.)
"""

import re
from collections.abc import Mapping, Sequence

_BACKSLASH = re.compile(r"\\")
_SPECIAL = re.compile(r"[$^*{}\[\]'+?.()|]")
ALL = ".*"
RANGE_SECONDS, INTERVAL_SECONDS = 180, 5


def escaped(value: str) -> str:
    """Return a value as it stands in a pattern within quotes."""
    doubled = _BACKSLASH.sub(lambda _: 4 * "\\", value)
    return _SPECIAL.sub(lambda match: 2 * "\\" + match.group(), doubled)


def filled(expression: str, values: Mapping[str, Sequence[str]], *, most: int = 50, rate_seconds: int = 20) -> str:
    """Return an expression with each variable filled; variables without values stand at All."""
    text = expression.replace("$__rate_interval", f"{rate_seconds}s").replace("$most", str(most))
    text = text.replace("$__range", f"{RANGE_SECONDS}s").replace("$__interval", f"{INTERVAL_SECONDS}s")

    def value(match: re.Match[str]) -> str:
        chosen = [escaped(each) for each in values.get(match[1], ())]
        if not chosen:
            return ALL
        return chosen[0] if len(chosen) == 1 else f"({'|'.join(chosen)})"

    return re.sub(r"\$(\w+)", value, text)
