"""The page of figures reckons with the numbers of the worked example, and reckons right."""

import ast
import operator
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from vllmwatch.catalog.recordings.stories.worked_example import STEPS, WORKED_EXAMPLE

PAGE = (Path(__file__).parents[3] / "docs" / "figures.md").read_text()
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| `")]
INPUTS = [row for row in ROWS if len(row) == 3]
RESULTS = [row for row in ROWS if len(row) == 4]
OPERATORS: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def reckon(node: ast.AST) -> float:
    if isinstance(node, ast.Expression):
        return reckon(node.body)
    if isinstance(node, ast.Constant):
        return float(node.value)  # type: ignore[arg-type]  # the page has numbers alone
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](reckon(node.left), reckon(node.right))
    assert isinstance(node, ast.Call)
    assert ast.unparse(node.func) == "max"
    return max(map(reckon, node.args))


def who(labels: dict[str, str]) -> str:
    """Return of whom a series is, as the page writes it."""
    names = ("uuid",) if "uuid" in labels else ("server", "engine") if "server" in labels else ("model_name",)
    return " ".join(f"`{labels[name]}`" for name in names if name in labels)


def told() -> dict[tuple[str, str], float]:
    return {
        (check.recording, who(dict(sample.labels))): sample.value
        for check in WORKED_EXAMPLE.checks
        for sample in check.samples
    }


def test_every_result_of_the_page_is_one_that_promtool_checks_and_the_other_way_round() -> None:
    assert {(name.strip("`"), of): float(result) for name, of, _, result in RESULTS} == told()


@pytest.mark.parametrize("row", RESULTS, ids=lambda row: f"{row[0]} {row[1]}")
def test_reckoning_leads_to_the_result(row: list[str]) -> None:
    assert reckon(ast.parse(row[2], mode="eval")) == pytest.approx(float(row[3]), abs=1e-6)


def test_every_sample_of_the_page_goes_into_the_example_and_the_other_way_round() -> None:
    on_page = {(re.sub(r"` up to .*", "`", name).strip("`"), of): float(value) for name, of, value in INPUTS}
    went_in = {}
    for series in WORKED_EXAMPLE.series:
        name, _, text = series.selector.partition("{")
        labels = dict(re.findall(r'(\w+)="([^"]*)"', text))
        if name.endswith("_info"):
            continue
        value = re.fullmatch(rf"(?:90000\+)?(.+)x{STEPS}", series.values)
        assert value is not None
        went_in[name, who(labels)] = float(value.group(1))
    prices = [went_in.pop(key) for key in list(went_in) if "_price_" in key[0]]
    assert on_page == went_in
    assert prices == [1.8, 0.36]
    assert "A GPU costs 1.80 an hour and a kilowatt-hour 0.36." in PAGE
