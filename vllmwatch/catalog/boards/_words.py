"""Words in which boards are written: what is asked of which series, narrowed to what the variables of a board say."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vllmwatch.catalog.boards._figures import FIGURES
from vllmwatch.spec.board import Limits, Look, Panel, Query, Row, Source, Variable
from vllmwatch.spec.promql import aggregate, select
from vllmwatch.spec.unit import Unit

NO_LIMITS = Limits()
AGO = Unit("milliseconds since the epoch, shown as how long ago", "", "dateTimeFromNow")
MOST = "$most"
"""The variable of how many series a panel shows at most: with 1,000 servers nobody reads more, and Grafana stalls."""
_COURSES = frozenset({Look.LINES, Look.STATES, Look.HISTORY})
_NO_ROUTER = 'role!="router"'
_RANKED = re.compile(r"(top|bottom)k\(\$most, (.+)\)", re.DOTALL)

_SERVERS = "vllmwatch:server:info:now"
_WHO = ("model_name", "server", "engine", "node", "uuid", "gpu", "rank")
NODE = Variable("node", "Node", "label_values(vllmwatch:server:info:now, node)")
NODE_OF_GPUS = Variable("node", "Node", "label_values(vllmwatch_gpu_up, node)")
MODEL = Variable("model_name", "Model", f'label_values({_SERVERS}{{node=~"$node"}}, model_name)')
# A server that was never up has no model, and alerts lead to it all the same.
SERVER = Variable(
    "server",
    "Server",
    'label_values(vllmwatch_target_info{role!="router",node=~"$node",model_name=~"$model_name"}, server)',
)
ENGINE = Variable(
    "engine", "Engine", 'label_values(vllmwatch:engine:requests_running:max{node=~"$node",server=~"$server"}, engine)'
)
GPU = Variable("uuid", "GPU", 'label_values(vllmwatch_gpu_up{node=~"$node"}, uuid)')
SERVER_OF_TARGETS = Variable("server", "Server", 'label_values(vllmwatch_target_up{node=~"$node"}, server)')


@dataclass(frozen=True, slots=True)
class Scope:
    """What a board is narrowed to: its variables, which match the labels that a series has."""

    variables: tuple[Variable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The labels that it is narrowed by."""
        return tuple(each.name for each in self.variables)

    def matchers(self, labels: Iterable[str]) -> list[str]:
        """Return a matcher for each variable whose label is among these."""
        return [f'{each.name}=~"${each.name}"' for each in self.variables if each.name in labels]

    def select(self, name: str, *matchers: str, window: str = "") -> str:
        """Return a selector of a series, narrowed; raises KeyError for one that there is not."""
        return select(name, *matchers, *self.matchers(FIGURES[name].labels), window=window)

    def alerts(self, *matchers: str) -> str:
        """Return a selector of the alerts about what is chosen, or about what it is part of: its model, its node."""
        wide = [f'{label}=~"${label}|"' for label in self.names if label in FIGURES["ALERTS"].labels]
        return select("ALERTS", *matchers, *wide)

    def of_model(self, expression: str, labels: Sequence[str]) -> str:
        """Return those alone whose server has the model that is chosen, where series do not say their model."""
        # A GPU may be on another node than its server.
        whose = "server" if "uuid" in labels else "node, server"
        return f"({expression} and on ({whose}) {self.select('vllmwatch_target_info', _NO_ROUTER)})"

    def highest(self, name: str, *matchers: str, by: Sequence[str] | None = None, word: str = "") -> Query:
        """Ask for the series with the highest values, each counted once."""
        return self._ranked("topk", "max", name, matchers, by, word)

    def lowest(
        self, name: str, *matchers: str, by: Sequence[str] | None = None, word: str = "", each: str = "min"
    ) -> Query:
        """Ask for the series with the lowest values, each counted once, by its `min` or `max` where several tell it."""
        return self._ranked("bottomk", each, name, matchers, by, word)

    def rate(self, name: str, *matchers: str, by: Sequence[str], word: str = "") -> Query:
        """Ask for the rate of a counter, the highest series of it."""
        labels = tuple(by)
        every = FIGURES[name].labels
        each = aggregate("max", every, f"rate({self.select(name, *matchers, window='$__rate_interval')})")
        expression = f"topk({MOST}, {aggregate('sum', labels, each)})" if labels else f"sum({each})"
        return Query(expression, labels, legend(labels, word))

    def total(self, name: str, *matchers: str, by: Sequence[str] = (), operator: str = "sum", word: str = "") -> Query:
        """Ask for one value of all series, or one for each of some labels, each series counted once."""
        labels = tuple(by)
        each = aggregate("max", FIGURES[name].labels, self.select(name, *matchers))
        if not labels:
            return Query(f"{operator}({each})", (), word)
        return Query(f"topk({MOST}, {aggregate(operator, labels, each)})", labels, legend(labels, word))

    def _ranked(
        self, operator: str, each: str, name: str, matchers: Sequence[str], by: Sequence[str] | None, word: str
    ) -> Query:
        figure = FIGURES[name]
        labels = figure.labels if by is None else tuple(by)
        found = aggregate(each, labels, self.select(name, *matchers))
        if "model_name" in self.names and "server" in labels and "model_name" not in figure.labels:
            found = self.of_model(found, labels)
        expression = f"{operator}({MOST}, {found})"
        return Query(expression, labels, legend(labels, word))


def legend(labels: Sequence[str], word: str = "") -> str:
    """Return the name of a series: a word, whose it is, and what else tells it from the others."""
    whose: list[str] = []
    if "server" in labels:
        whose.append("{{server}}")
    elif "model_name" in labels:
        whose.append("{{model_name}}")
    if "engine" in labels:
        whose.append("engine {{engine}}")
    if "gpu" in labels:
        whose.append("GPU {{gpu}}")
    elif "uuid" in labels:
        whose.append("{{uuid}}")
    others = [f"{{{{{label}}}}}" for label in labels if label not in _WHO]
    node = ["({{node}})"] if "node" in labels and (len(whose) > 0) else ["{{node}}"] if "node" in labels else []
    return " ".join([*([word] if word else []), *others, *whose, *node])


def panel(title: str, look: Look, *queries: Query, of: Sequence[str] = (), also: str = "", **craft: Any) -> Panel:
    """Return a panel that is described, and has its unit, by the figures `of` which it shows; `also` is said after."""
    figures = [FIGURES[name] for name in of]
    said = list(dict.fromkeys(figure.help for figure in figures))
    text = " ".join([*said, also]).strip()
    unit = craft.pop("unit", figures[0].unit if figures else None)
    fields = craft if unit is None else {**craft, "unit": unit}
    asked = tuple(map(over_time, queries)) if look in _COURSES else queries
    return Panel(title, look, text, asked, **fields)


def lines(title: str, *queries: Query, of: Sequence[str], also: str = "", **craft: Any) -> Panel:
    """Return a panel of lines over time."""
    return panel(title, Look.LINES, *queries, of=of, also=also, **craft)


def number(title: str, query: Query, *, of: Sequence[str] = (), also: str = "", **craft: Any) -> Panel:
    """Return a panel of one number, or of one for each series, as it is now."""
    return panel(
        title, Look.NUMBER, replace(query, at_once=True), of=of, also=also, **{"width": 4, "height": 4} | craft
    )


def column(query: Query, heading: str, unit: Unit, limits: Limits = NO_LIMITS) -> Query:
    """Return a query as a column of a table."""
    return replace(query, column=heading, unit=unit, limits=limits, at_once=True)


def over_time(query: Query) -> Query:
    """Return a query for the series that were the highest, or lowest, at any moment of the range, for all of it.

    Of itself `topk` ranks at every moment anew: the series come and go, and together they are far more than it says.
    """
    ranked = _RANKED.fullmatch(query.expression)
    if ranked is None or query.source is Source.LOGS:
        return query
    operator, each = ranked.groups()
    extreme = {"top": "max", "bottom": "min"}[operator]
    best = f"{operator}k({MOST}, {extreme}_over_time(({each})[$__range:$__interval] @ end()))"
    return replace(query, expression=f"({each}) and on ({', '.join(query.labels)}) {best}")


def among(query: Query, those: Query) -> Query:
    """Return a query for those alone that another has, which have the same labels."""
    inner = query.expression.removeprefix(f"topk({MOST}, ").removesuffix(")")
    whose = f"on ({', '.join(those.labels)})"
    return replace(query, expression=f"{inner} and {whose} {those.expression}")


def logs(expression: str) -> Query:
    """Ask for lines of logs."""
    return Query(expression, (), source=Source.LOGS)


def row(title: str, *panels: Panel) -> Row:
    """Return a row of a board."""
    return Row(title, panels)
