"""How a target lets us in: the Authorization header, and certificates."""

import base64
import os
import ssl
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field

from vllmwatch.sources.target import Access
from vllmwatch.sources.vllm.refused import RefusedError
from vllmwatch.spec.reason import Reason

_SECRET_CHARACTERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Authorization:
    """The header that lets us in, if there is one, and the texts in it that nobody may read."""

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def authorization(access: Access) -> Authorization:
    """Return how we are let in; files are read anew. Raises RefusedError."""
    if access.bearer_token_file or access.bearer_token:
        token = _secret(access.bearer_token_file) if access.bearer_token_file else access.bearer_token or ""
        return Authorization({"Authorization": f"Bearer {token}"}, (token,))
    if access.username is not None:
        password = _secret(access.password_file) if access.password_file else access.password or ""
        pair = base64.b64encode(f"{access.username}:{password}".encode()).decode("ascii")
        return Authorization({"Authorization": f"Basic {pair}"}, tuple(filter(None, (pair, password))))
    return Authorization()


def _secret(path: str) -> str:
    """Read a token or password: one line of ASCII, in a file that is one."""
    try:
        # A pipe in its place would hold us up; this way it only cannot be read.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), encoding="utf-8") as stream:  # noqa: PTH123
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise RefusedError(Reason.CREDENTIALS, f"{path} is not a file")
            text = stream.read(_SECRET_CHARACTERS + 1).strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RefusedError(Reason.CREDENTIALS, f"{path} cannot be read: {type(error).__name__}") from error
    if not text:
        raise RefusedError(Reason.CREDENTIALS, f"{path} is empty")
    if len(text) > _SECRET_CHARACTERS or not text.isascii() or not text.isprintable():
        raise RefusedError(Reason.CREDENTIALS, f"{path} is not one line of ASCII characters")
    return text


def certificates_stamp(access: Access) -> tuple[object, ...]:
    """Return what changes when one of the certificate files does, as when they are renewed."""
    stamps: list[object] = []
    for path in (access.ca_file, access.cert_file, access.key_file):
        try:
            found = os.stat(path) if path else None  # noqa: PTH116  a path as the user gave it
        except OSError:
            found = None
        stamps.append((found.st_mtime_ns, found.st_size, found.st_ino) if found else None)
    return tuple(stamps)


def tls_context(access: Access) -> ssl.SSLContext:
    """Return how TLS connections are made and verified. Raises RefusedError."""
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
        if access.cert_file:
            context.load_cert_chain(access.cert_file, access.key_file)
    except (OSError, ssl.SSLError) as error:
        raise RefusedError(Reason.CREDENTIALS, f"a certificate or key file cannot be used: {error}") from error
    if access.insecure_skip_verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
