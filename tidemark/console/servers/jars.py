"""The jars of Kafka, Kafka Connect and Debezium, fetched once by Maven and stored beside Spark's jars.

A changed pom or list of checksums fetches again. `jars.sha256` beside a pom has the SHA-256 of each jar; others are not
used. Maven uses the repository in the machine's settings.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.console.servers.errors import ComponentMissingError
from tidemark.console.servers.server_process import run
from tidemark.system.checksums import require_checksums
from tidemark.system.token_variable import without_token

if TYPE_CHECKING:
    from collections.abc import Sequence

COMPONENTS = Path(sys.prefix) / "share" / "tidemark" / "servers"
_POM = Path(__file__).parent / "maven" / "pom.xml"
_DOWNLOAD_TIMEOUT_SECONDS = 900.0


@dataclass(frozen=True)
class Jars:
    """Paths of the servers' jars."""

    root: Path

    @property
    def classpath(self) -> str:
        return f"{self.root / 'kafka'}/*"

    @property
    def plugins(self) -> Path:
        return self.root / "plugins"


def jars(root: Path = COMPONENTS) -> Jars:
    """The jars of Kafka and Connect, fetched if missing; ComponentMissingError without Maven or Java."""
    fetch(root, "Kafka", _POM, ("kafka", "plugins", "markers"))
    return Jars(root)


def are_there(root: Path = COMPONENTS) -> bool:
    """Whether the jars of Kafka and Connect are fetched already."""
    return is_current(root / "kafka.sha256", _POM)


def is_current(marker: Path, pom: Path) -> bool:
    """Whether the jars noted in `marker` match the pom."""
    return marker.exists() and marker.read_text() == fingerprint(pom)


def fingerprint(pom: Path) -> str:
    """A hash of the pom and of its list of checksums."""
    return hashlib.sha256(pom.read_bytes() + _checksums(pom).read_bytes()).hexdigest()


def _checksums(pom: Path) -> Path:
    return pom.with_name("jars.sha256")


def fetch(root: Path, component: str, pom: Path, folders: Sequence[str]) -> None:
    """Let Maven fill the `folders` of `root` by the pom, unless that is done. Raises ChecksumError."""
    marker = root / f"{component.lower()}.sha256"
    root.mkdir(parents=True, exist_ok=True)
    with root.joinpath("lock").open("w") as lock:
        # Of parallel test processes, one fetches and the others wait.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_current(marker, pom):
            _fetch(root, component, pom, folders)
            require_checksums(root, _checksums(pom), folders)
            marker.write_text(fingerprint(pom))


def _fetch(root: Path, component: str, pom: Path, folders: Sequence[str]) -> None:
    for program, package in (("java", "Java 17 or later"), ("mvn", "Apache Maven 3.8 or later")):
        if shutil.which(program) is None:
            raise ComponentMissingError(component, program, f"install {package}")
    for stale in folders:
        shutil.rmtree(root / stale, ignore_errors=True)
    command = ["mvn", "--quiet", "--batch-mode", f"--file={pom}", f"-Dcomponents={root.resolve()}", "package"]
    # Maven finds its repository by the machine's variables: proxies, MAVEN_OPTS.
    run(f"the fetch of {component}'s jars", command, root, _DOWNLOAD_TIMEOUT_SECONDS, without_token(os.environ))
