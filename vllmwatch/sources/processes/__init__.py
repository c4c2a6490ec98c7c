"""The vLLM servers on this host, found from its processes and the ports that they listen on."""

from vllmwatch.sources.processes.finder import Found, FoundServer, ServerFinder
from vllmwatch.sources.processes.roles import Role
from vllmwatch.sources.processes.servers import ServerTree
from vllmwatch.sources.processes.table import Process, ProcessTable

__all__ = ["Found", "FoundServer", "Process", "ProcessTable", "Role", "ServerFinder", "ServerTree"]
