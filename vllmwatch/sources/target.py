"""What is to be scraped: one vLLM server's metrics page, and how to be let in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Origin(StrEnum):
    """How a target came to be known."""

    STATIC = "static"
    FILE_SD = "file_sd"
    PROCESS = "process"


@dataclass(frozen=True, slots=True)
class Access:
    """How a target lets us in. Secrets are left out of the repr, so that no log or error shows them.

    `bearer_token_file` and `password_file` are read anew at each scrape, since tokens rotate. `ca_file` replaces
    the system's certificate authorities; `insecure_skip_verify` accepts any certificate.
    """

    bearer_token: str | None = field(default=None, repr=False)
    bearer_token_file: str | None = None
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    password_file: str | None = None
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    insecure_skip_verify: bool = False


@dataclass(frozen=True, slots=True)
class ServerGpus:
    """The devices that carry a server, as somebody wrote them down, in the order of its engines and their workers.

    `server` is the name that the address `url` gives a target. A device is named by UUID, NVML's index or PCI address.
    """

    url: str
    server: str
    gpus: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Target:
    """One vLLM server.

    `url` is the whole address of its metrics page; `server` the stable name that its series carry (host:port, with
    the node's name for loopback addresses); `node` the host that it is on. `labels` (from file_sd) are added to its
    vLLM series. `pid` is the server's root process where it is known; `loading` says that the process is there and
    does not listen yet.
    """

    url: str
    server: str
    node: str
    origin: Origin
    access: Access = field(default_factory=Access)
    labels: Mapping[str, str] = field(default_factory=dict, hash=False)
    pid: int | None = None
    loading: bool = False
