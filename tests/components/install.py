"""The jars of Kafka, Kafka Connect and Debezium: fetched once by Maven into `.components/` of the repository.

A second call finds them there; a changed pom fetches anew. The repository that Maven asks is the machine's own setting.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.components.errors import ComponentMissingError
from tests.components.process import run

_POM = Path(__file__).parent / "maven" / "pom.xml"
REPOSITORY_ROOT = Path(__file__).parents[2]
_DOWNLOAD_TIMEOUT_SECONDS = 900.0


@dataclass(frozen=True)
class Jars:
    """Where the servers' jars are."""

    root: Path

    @property
    def classpath(self) -> str:
        return f"{self.root / 'kafka'}/*"

    @property
    def plugins(self) -> Path:
        return self.root / "plugins"


def jars(root: Path = REPOSITORY_ROOT / ".components") -> Jars:
    """The jars, fetched when they are not there yet; ComponentMissingError without Maven or Java."""
    marker, wanted = root / "pom.sha256", hashlib.sha256(_POM.read_bytes()).hexdigest()
    root.mkdir(parents=True, exist_ok=True)
    with root.joinpath("lock").open("w") as lock:
        # Test processes side by side: one fetches, the others wait for it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not marker.exists() or marker.read_text() != wanted:
            _fetch(root)
            marker.write_text(wanted)
    return Jars(root)


def _fetch(root: Path) -> None:
    for program, package in (("java", "Java 17 or later"), ("mvn", "Apache Maven 3.8 or later")):
        if shutil.which(program) is None:
            raise ComponentMissingError("Kafka", program, f"install {package}")
    for stale in ("kafka", "plugins", "markers"):
        shutil.rmtree(root / stale, ignore_errors=True)
    command = ["mvn", "--quiet", "--batch-mode", f"--file={_POM}", f"-Dcomponents={root.resolve()}", "package"]
    run("the fetch of Kafka's jars", command, root, _DOWNLOAD_TIMEOUT_SECONDS)
