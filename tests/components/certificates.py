"""Authorities made by openssl, and the certificates that they sign for servers on this machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from tidemark.console.servers.server_process import run
from tidemark.system.free_port import LOOPBACK

if TYPE_CHECKING:
    from pathlib import Path

_NEW_KEY = ("-newkey", "rsa:2048", "-nodes")


@dataclass(frozen=True)
class Certificate:
    """PEM files."""

    file: Path
    key: Path


@dataclass(frozen=True)
class Authority:
    """Who signs certificates; its own one is `certificate.file`."""

    certificate: Certificate

    @classmethod
    def create(cls, name: str, directory: Path) -> Self:
        made = Certificate(directory / f"{name}.pem", directory / f"{name}.key")
        _openssl(
            directory,
            *("req", "-x509", *_NEW_KEY, "-days", "2", "-subj", f"/CN={name}"),
            *("-keyout", str(made.key), "-out", str(made.file)),
        )
        return cls(made)

    def sign(self, name: str, directory: Path) -> Certificate:
        """A certificate for the address 127.0.0.1, and for no name."""
        made, request = Certificate(directory / f"{name}.pem", directory / f"{name}.key"), directory / f"{name}.csr"
        _openssl(directory, "req", *_NEW_KEY, "-subj", f"/CN={name}", "-keyout", str(made.key), "-out", str(request))
        extensions = directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName=IP:{LOOPBACK}\n")
        _openssl(
            directory,
            *("x509", "-req", "-in", str(request), "-days", "2", "-CAcreateserial", "-extfile", str(extensions)),
            *("-CAserial", str(directory / "serial"), "-CA", str(self.certificate.file)),
            *("-CAkey", str(self.certificate.key), "-out", str(made.file)),
        )
        return made


def _openssl(directory: Path, *arguments: str) -> None:
    run("openssl", ["openssl", *arguments], directory)
