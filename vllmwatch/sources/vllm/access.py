"""How a target lets us in: the Authorization header, and certificates."""

import base64
import ssl
from pathlib import Path

from vllmwatch.sources.target import Access
from vllmwatch.sources.vllm.refused import RefusedError
from vllmwatch.spec.reason import Reason


def authorization(access: Access) -> dict[str, str]:
    """Return the header that lets us in, if there is one; files are read anew. Raises RefusedError."""
    if access.bearer_token_file or access.bearer_token:
        token = _secret(access.bearer_token_file) if access.bearer_token_file else access.bearer_token
        return {"Authorization": f"Bearer {token}"}
    if access.username is not None:
        password = _secret(access.password_file) if access.password_file else access.password or ""
        pair = base64.b64encode(f"{access.username}:{password}".encode()).decode("ascii")
        return {"Authorization": f"Basic {pair}"}
    return {}


def _secret(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise RefusedError(Reason.CREDENTIALS, f"{path} cannot be read: {error}") from error


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
