"""Everything that others may call says what it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "vllmwatch"
MODULES = sorted(PACKAGE.rglob("*.py"))


def public(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the module, and its public classes, functions and methods; overridden and special methods are known."""
    yield "module", tree
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node.name, node
            if isinstance(node, ast.ClassDef):
                for child in node.body:
                    if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
                        yield f"{node.name}.{child.name}", child


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_everything_public_has_a_docstring(path: Path) -> None:
    silent = [
        name
        for name, node in public(ast.parse(path.read_text()))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and not ast.get_docstring(node)
    ]
    assert silent == []
