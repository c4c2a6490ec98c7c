"""Tables in Markdown and in plain text, and the characters that must not break them."""

from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; raises ValueError for a row of another width."""
    lines = [_row(head), _row(["---"] * len(head))]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"a row of {len(row)} cells in a table of {len(head)} columns: {row}")
        lines.append(_row([_cell(text) for text in row]))
    return "\n".join(lines)


def code(text: str) -> str:
    """Return a text set as code."""
    return f"`{text}`"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def columns(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as plain text in columns, the last one as wide as it is."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]) - 1)]
    lines = [
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]) for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)
