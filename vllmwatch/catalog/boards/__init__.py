"""Every board: a module a board."""

from vllmwatch.catalog.boards import cost, fleet, gpu, logs, server, watchers
from vllmwatch.spec.board import Dashboard

BOARDS: tuple[Dashboard, ...] = (
    fleet.BOARD,
    server.BOARD,
    gpu.BOARD,
    cost.BOARD,
    logs.BOARD,
    watchers.BOARD,
)
"""All boards, from the wide to the narrow."""
