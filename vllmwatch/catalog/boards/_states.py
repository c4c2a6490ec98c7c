"""How models and servers are, in one word each: a page fires for it, it is down, a ticket fires, or it is well."""

from vllmwatch.catalog.boards._words import MOST, Scope
from vllmwatch.spec.board import Color, Query, Value

STATES = {
    0.0: Value("well", Color.WELL),
    1.0: Value("ticket", Color.CARE),
    1.5: Value("down", Color.BAD),
    2.0: Value("page", Color.BAD),
}
KNOWN_SERVERS = "vllmwatch:server:info:now"
FIRING = 'alertstate="firing"'
_MODEL = ("model_name",)
_SERVER = ("node", "server", "model_name")


def up(scope: Scope) -> str:
    """Return whether each server is up, once for all that read it."""
    return scope.of_model(f"max by (node, server) ({scope.select('vllmwatch_target_up')})", _SERVER)


def of_models(scope: Scope) -> Query:
    """Ask for the state of each model."""
    return _state(scope, _MODEL)


def of_servers(scope: Scope) -> Query:
    """Ask for the state of each server.

    An alert waits before it fires, and knows no model of a server that was never up: the one would look well, and the
    other be left out.
    """
    never_up = scope.select("vllmwatch_target_info", 'role!="router"', 'model_name=""')
    every = f"group by ({', '.join(_SERVER)}) ({scope.select(KNOWN_SERVERS)} or {never_up})"
    return _state(scope, _SERVER, f" or ({every} and on (node, server) ({up(scope)} == 0)) * 1.5")


def _state(scope: Scope, labels: tuple[str, ...], down: str = "") -> Query:
    """Ask for the state of each: 2 while a page fires for it, 1.5 where it is `down`, 1 while a ticket does, else 0."""
    filled = [f'{label}!=""' for label in labels]
    by = ", ".join(labels)
    page, ticket = (
        f"group by ({by}) ({scope.select('ALERTS', FIRING, severity, *filled)})"
        for severity in ('severity="page"', 'severity="ticket"')
    )
    known = f"group by ({by}) ({scope.select(KNOWN_SERVERS)})"
    return Query(f"topk({MOST}, {page} * 2{down} or {ticket} or {known} * 0)", labels)
