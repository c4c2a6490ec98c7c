"""Whose log a file is where nobody said: the server's whose process has it as its output, else that of the only one."""

from vllmwatch.exporter.discovery import Discovers
from vllmwatch.exporter.log_stream import Owner
from vllmwatch.sources.processes.outputs import writers_of


def log_owner(discovery: Discovers) -> Owner:
    """Return what names the owner of a log from what discovery finds."""

    def owner(identity: tuple[int, int]) -> str:
        found = discovery.discover()
        servers = found.host.servers if found.host is not None else ()
        writers = writers_of(identity, [pid for server in servers for pid in server.tree.pids()])
        for server in servers:
            if server.targets and not writers.isdisjoint(server.tree.pids()):
                return server.targets[0].server
        return found.targets[0].server if len(found.targets) == 1 else ""

    return owner
