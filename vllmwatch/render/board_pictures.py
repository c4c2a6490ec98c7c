"""docs/reference/boards: a picture of the layout of each board, and the page that says what each panel shows."""

import textwrap
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from vllmwatch.catalog.alerts import ALERTS
from vllmwatch.render import mark
from vllmwatch.render.tables import table
from vllmwatch.spec.board import GRID_COLUMNS, Dashboard, Look, Panel

_COLUMN, _LINE, _GAP, _HEAD = 38, 14, 3, 20
_LETTERS_A_COLUMN = 5.4
_LETTERS = 3
_SLUGS = {alert.name: alert.slug for alert in ALERTS}
_STYLE = (
    "<style>text{font:11px sans-serif;fill:#24292f}.row{font-weight:bold;font-size:13px}"
    ".look{fill:#57606a;font-size:10px}rect{fill:#f6f8fa;stroke:#afb8c1}svg{background:#fff}</style>"
)
_LOOKS = {
    Look.LINES: "lines over time",
    Look.NUMBER: "a number",
    Look.TABLE: "a table",
    Look.HEAT: "a heat map",
    Look.STATES: "states over time",
    Look.HISTORY: "heat by series and time",
    Look.LOGS: "lines of logs",
}


def picture_path(board: Dashboard) -> str:
    """Return where the picture of a board lies in the checkout."""
    return f"docs/reference/boards/{_word(board)}.svg"


def render_picture(board: Dashboard) -> str:
    """Return an SVG of the grid of a board: each row with its question, each panel with its own."""
    shapes: list[str] = []
    top = 0
    for row in board.rows:
        shapes.append(f'<text class="row" x="{_GAP}" y="{top + _HEAD - 6}">{escape(row.title)}</text>')
        top += _HEAD
        for line in row.lines:
            left = 0
            for panel in line:
                shapes += _panel(panel, left * _COLUMN, top)
                left += panel.width
            top += line[0].height * _LINE
    width = GRID_COLUMNS * _COLUMN
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top + _GAP}" role="img">',
            f"<!-- {mark.sentence()} -->",
            f"<title>{escape(board.title)}: {escape(board.question)}</title>",
            _STYLE,
            *shapes,
            "</svg>\n",
        )
    )


def render_boards_page(boards: Sequence[Dashboard]) -> str:
    """Return the page: the rows of each board, and what each panel shows."""
    parts = [
        "# Boards",
        "What every panel shows, and which alerts watch it. How to get them: [boards.md](../boards.md).",
    ]
    for board in boards:
        parts += [f"## {board.title}", board.question, f"![The layout of {board.title}](boards/{_word(board)}.svg)"]
        for row in board.rows:
            parts += [f"### {row.title}", table(("panel", "shows", "watched by"), list(_rows(row.panels)))]
    return mark.markdown("\n\n".join(parts))


def _panel(panel: Panel, left: int, top: int) -> Iterator[str]:
    width, height = panel.width * _COLUMN - _GAP, panel.height * _LINE - _GAP
    yield f'<rect x="{left + 1}" y="{top}" width="{width}" height="{height}" rx="3"/>'
    most = int(panel.width * _LETTERS_A_COLUMN)
    words = textwrap.wrap(panel.title, most)[:_LETTERS]
    for index, words_of_line in enumerate(words):
        yield f'<text x="{left + 8}" y="{top + 16 + index * 13}">{escape(words_of_line)}</text>'
    if panel.height * _LINE > 16 + (len(words) + 1) * 13:
        below = top + 18 + len(words) * 13
        yield f'<text class="look" x="{left + 8}" y="{below}">{_LOOKS[panel.look]}</text>'


def _rows(panels: Sequence[Panel]) -> Iterator[tuple[str, str, str]]:
    for panel in panels:
        watched = ", ".join(f"[{name}](alerts/{_SLUGS[name]}.md)" for name in panel.alerts)
        yield panel.title, panel.description, watched


def _word(board: Dashboard) -> str:
    return board.uid.value.removeprefix("vllmwatch-")
