"""The jars for Google Cloud Storage: Google's connector for Hadoop, and our log store.

`python -m tidemark.spark.object_store.gcs_jars` fetches them in advance, else the first session does. Other lakes do
not need them. Hadoop's own connector (hadoop-gcp) only supports Google's server, so it could not be tested on another
one.
"""

import hashlib
import sys
from pathlib import Path
from typing import Final

from tidemark.spark.jars import fetch_into, jars_directory, resolved_jars
from tidemark.spark.log_store_jar import OWN_JAR, sources, write_log_store_jar

CHECKSUMS: Final = Path(__file__).with_name("gcs_jars.sha256")
CONNECTOR: Final = "com.google.cloud.bigdataoss:gcs-connector:hadoop3-2.2.26"
SOURCES: Final = sources(Path(__file__).parent, "GcsLogStore")
_IVY_SETTINGS: Final = Path(__file__).with_name("shaded_ivy.xml")


def gcs_jars_directory(base: Path | None = None) -> Path:
    """The folder of these jars. Its name changes with them and with our sources."""
    delta = jars_directory(base)
    told = b"\n".join([CONNECTOR.encode(), delta.name.encode(), *(source.read_bytes() for source in SOURCES)])
    return delta.with_name(f"gcs-jars-{hashlib.sha256(told).hexdigest()[:12]}")


def gcs_jars(base: Path | None = None) -> tuple[Path, ...]:
    """These jars on this machine, fetched first if they are missing. Raises JarsError, ChecksumError."""
    target = gcs_jars_directory(base)
    if not target.is_dir():
        fetch_into(target, [((CONNECTOR,), ())], CHECKSUMS, lambda folder: _add_log_store(folder, base), _IVY_SETTINGS)
    return tuple(sorted(target.glob("*.jar")))


def _add_log_store(folder: Path, base: Path | None) -> None:
    write_log_store_jar(folder / OWN_JAR, SOURCES, [*resolved_jars(base), *folder.glob("*.jar")])


if __name__ == "__main__":
    sys.stdout.write(f"{len(gcs_jars())} jars for Google Cloud Storage in {gcs_jars_directory()}\n")
