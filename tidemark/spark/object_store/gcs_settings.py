"""Spark's settings for tables in Google Cloud Storage."""

from typing import Final

from tidemark.system.gcs_access import GcsAccess

LOG_STORE: Final = "tidemark.GcsLogStore"
_PACKAGE: Final = "com.google.cloud.hadoop.fs.gcs"
_SIZES: Final = {
    "block.size": 64,
    "inputstream.inplace.seek.limit": 8,
    "inputstream.min.range.request.size": 2,
    "outputstream.buffer.size": 8,
    "rewrite.max.chunk.size": 512,
}
"""In MiB. Hadoop's defaults are written for a connector of its own (`64m`), and Google's reads numbers alone."""


def gcs_settings(access: GcsAccess) -> dict[str, str]:
    """What commits are safe by, and what has to be as delta-rs has it; nobody may set it otherwise.

    Credentials are found by the connector itself: the file of GOOGLE_APPLICATION_CREDENTIALS, else the machine's own.
    """
    settings = {
        "spark.hadoop.fs.gs.impl": f"{_PACKAGE}.GoogleHadoopFileSystem",
        "spark.hadoop.fs.AbstractFileSystem.gs.impl": f"{_PACKAGE}.GoogleHadoopFS",
        "spark.delta.logStore.gs.impl": LOG_STORE,
        **{f"spark.hadoop.fs.gs.{name}": str(size << 20) for name, size in _SIZES.items()},
        "spark.hadoop.fs.gs.auth.service.account.enable": str(not access.emulator).lower(),
        "spark.hadoop.fs.gs.auth.null.enable": str(bool(access.emulator)).lower(),
    }
    return {**settings, "spark.hadoop.fs.gs.storage.root.url": f"{access.emulator}/"} if access.emulator else settings
