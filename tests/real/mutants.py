"""Faults that somebody might make in a rule, each of which an alert's cases must tell."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from vllmwatch.catalog.thresholds import DEFAULTS
from vllmwatch.spec.alert import Alert

_OPERATOR = re.compile(r"\b(and|unless|or)\b(\s+(?:on|ignoring)\s*\([^()]*\))?(\s+group_(?:left|right)\s*\([^()]*\))?")
_COMPARISON = re.compile(r"(?<![=<>!])([<>]=?|==)\s*(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)\b(?!\s*\*)")
_BY = re.compile(r"\bby \(([^()]*)\)")
# What a figure is held against may be wrong by so much before anybody is to notice.
_MUCH = 3.0


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule with a fault: what the fault is, its expression, and how long it holds."""

    fault: str
    expression: str
    hold: str


def mutants(alert: Alert) -> Iterator[Mutant]:
    """Yield an alert's faults: no hold, a threshold far off, a term left out, a label that does not tell apart."""
    threshold = f"{DEFAULTS.everywhere[alert.threshold]:g}" if alert.threshold else ""
    expression = alert.expression_for(threshold)
    if alert.hold != "0s":
        yield Mutant("it does not wait", expression, "0s")
    for position, match in enumerate(_COMPARISON.finditer(expression)):
        for factor, word in ((_MUCH, "higher"), (1 / _MUCH, "lower")):
            number = float(match[2])
            moved = number * factor if number else (1e12 if factor > 1 else -1e12)
            text = f"{expression[: match.start(2)]}{moved:g}{expression[match.end(2) :]}"
            yield Mutant(f"comparison {position} ({match[0]}) {word}", text, alert.hold)
    for fault, text in _without_terms(expression):
        yield Mutant(fault, text, alert.hold)
    for match in _BY.finditer(expression):
        labels = [label.strip() for label in match[1].split(",")]
        for label in labels:
            rest = ", ".join(each for each in labels if each != label)
            text = f"{expression[: match.start(1)]}{rest}{expression[match.end(1) :]}"
            yield Mutant(f"without {label} in by ({match[1]})", text, alert.hold)


def _without_terms(expression: str) -> Iterator[tuple[str, str]]:
    """Yield the expression without each of its terms at the top level, with the operator before it."""
    operators = list(_operators(expression))
    begins = [0, *(match.end() for match in operators)]
    ends = [*(match.start() for match in operators), len(expression)]
    for number in range(len(begins)):
        if len(begins) == 1:
            return
        if number == 0:
            if operators[0][1] == "unless":
                continue  # what is left would be another rule altogether
            text = expression[begins[1] :]
        else:
            text = expression[: operators[number - 1].start()] + expression[ends[number] :]
        yield f"without the term {' '.join(expression[begins[number] : ends[number]].split())}", text.strip()


def _operators(expression: str) -> Iterator[re.Match[str]]:
    """Yield the operators between sets that stand outside all parentheses, braces and quotes, with their labels."""
    depth, quoted = 0, False
    outside = []
    for letter in expression:
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in "({[") - (letter in ")}]")
        outside.append(depth == 0 and not quoted)
    return (match for match in _OPERATOR.finditer(expression) if outside[match.start()])


def as_rule(alert: Alert, mutant: Mutant) -> Alert:
    """Return an alert with a fault, to be rendered in its place."""
    return replace(alert, expression=mutant.expression, hold=mutant.hold, threshold="", own_severity=None)
