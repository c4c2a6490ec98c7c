"""Where links lead unless somebody says so; pure."""

_BY_LOCALHOST = frozenset({"", "0.0.0.0", "::", "127.0.0.1", "::1"})


def runbooks_at(host: str, port: int) -> str:
    """Return the address of the runbooks of an exporter that listens on a host (a name or an IP address) and a port.

    One that listens on all addresses, or on loopback, is there for this host by the name localhost alone.
    """
    name = "localhost" if host in _BY_LOCALHOST else f"[{host}]" if ":" in host else host
    return f"http://{name}:{port}/runbooks"
