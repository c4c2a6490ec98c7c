"""The names and addresses of the host that we run on."""

import socket

import psutil


def own_names() -> frozenset[str]:
    """Return this host's name, its name without the domain, and the IP addresses of its interfaces."""
    name = socket.gethostname().lower()
    families = (socket.AF_INET, socket.AF_INET6)
    addresses = {
        entry.address.partition("%")[0]
        for entries in psutil.net_if_addrs().values()
        for entry in entries
        if entry.family in families
    }
    return frozenset({name, name.partition(".")[0], *addresses})
