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
"""Sizes in MiB. Hadoop's defaults are for its own connector (`64m`); Google's connector reads only numbers."""


def gcs_settings(access: GcsAccess) -> dict[str, str]:
    """Settings for safe commits and for the same access as delta-rs. Users cannot change them.

    The connector finds credentials itself: the file of GOOGLE_APPLICATION_CREDENTIALS, else the machine's own.
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
