"""The jars for Azure Data Lake Storage: Hadoop's file system, and our own classes.

`python -m tidemark.spark.object_store.azure_jars` fetches them in advance, else the first session does. Other lakes do
not need them.
"""

import hashlib
import sys
from pathlib import Path
from typing import Final

from tidemark.spark.jars import fetch_into, jars_directory, resolved_jars
from tidemark.spark.log_store_jar import OWN_JAR, sources, write_log_store_jar

CHECKSUMS: Final = Path(__file__).with_name("azure_jars.sha256")
FILE_SYSTEM: Final = "org.apache.hadoop:hadoop-azure:3.5.0"
"""The version for the Hadoop that Spark ships."""
_OLD_SDK: Final = ("com.microsoft.azure:azure-storage", "com.microsoft.azure:azure-keyvault-core")
"""Libraries for `wasb://`, which Hadoop no longer supports."""
SOURCES: Final = sources(Path(__file__).parent, "AbfsLogStore", "AzureKey", "AzureToken")


def azure_jars_directory(base: Path | None = None) -> Path:
    """The folder of these jars. Its name changes with them and with our sources."""
    delta = jars_directory(base)
    told = b"\n".join([FILE_SYSTEM.encode(), delta.name.encode(), *(source.read_bytes() for source in SOURCES)])
    return delta.with_name(f"azure-jars-{hashlib.sha256(told).hexdigest()[:12]}")


def azure_jars(base: Path | None = None) -> tuple[Path, ...]:
    """These jars on this machine, fetched first if they are missing. Raises JarsError, ChecksumError."""
    target = azure_jars_directory(base)
    if not target.is_dir():
        fetch_into(target, [((FILE_SYSTEM,), _OLD_SDK)], CHECKSUMS, lambda folder: _add_log_store(folder, base))
    return tuple(sorted(target.glob("*.jar")))


def _add_log_store(folder: Path, base: Path | None) -> None:
    write_log_store_jar(folder / OWN_JAR, SOURCES, [*resolved_jars(base), *folder.glob("*.jar")])


if __name__ == "__main__":
    sys.stdout.write(f"{len(azure_jars())} jars for Azure Data Lake Storage in {azure_jars_directory()}\n")
