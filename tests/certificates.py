"""A certificate authority of the test's own, made with the openssl command."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True, slots=True)
class Certificates:
    """Paths of PEM files: an authority, a server on 127.0.0.1, and a client."""

    ca: str
    server_cert: str
    server_key: str
    client_cert: str
    client_key: str


def make_certificates(folder: Path) -> Certificates:
    """Make the files in a folder."""
    _openssl(
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=test authority",
        "-keyout",
        folder / "ca.key",
        "-out",
        folder / "ca.pem",
    )
    for name in ("server", "client"):
        _openssl(
            "req",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            f"/CN={name}",
            "-keyout",
            folder / f"{name}.key",
            "-out",
            folder / f"{name}.csr",
        )
        extensions = folder / f"{name}.ext"
        extensions.write_text("subjectAltName=IP:127.0.0.1\n")
        _openssl(
            "x509",
            "-req",
            "-in",
            folder / f"{name}.csr",
            "-CA",
            folder / "ca.pem",
            "-CAkey",
            folder / "ca.key",
            "-CAcreateserial",
            "-days",
            "2",
            "-extfile",
            extensions,
            "-out",
            folder / f"{name}.pem",
        )
    return Certificates(
        *(str(folder / name) for name in ("ca.pem", "server.pem", "server.key", "client.pem", "client.key"))
    )


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    """An authority with a server's and a client's certificate."""
    return make_certificates(tmp_path_factory.mktemp("certificates"))
