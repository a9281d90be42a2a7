"""Spark's settings for tables in Azure Data Lake Storage."""

from typing import Final

from tidemark.system.azure_access import AzureAccess

LOG_STORE: Final = "tidemark.AbfsLogStore"
_FILE_SYSTEM: Final = "org.apache.hadoop.fs.azurebfs"
_STREAMING: Final = "org.apache.spark.sql.execution.streaming.checkpointing"
_SIGNED_BY_KEY: Final = {
    "spark.hadoop.fs.azure.account.auth.type": "SharedKey",
    "spark.hadoop.fs.azure.account.keyprovider": "tidemark.AzureKey",
}
_BY_TOKEN: Final = {
    "spark.hadoop.fs.azure.account.auth.type": "Custom",
    "spark.hadoop.fs.azure.account.oauth.provider.type": "tidemark.AzureToken",
}


def azure_settings(access: AzureAccess) -> dict[str, str]:
    """Settings for safe commits and for the same access as delta-rs. Users cannot change them.

    Our own classes read the credentials from the environment, because Spark may show its settings.
    """
    settings = {
        "spark.delta.logStore.abfss.impl": LOG_STORE,
        "spark.hadoop.fs.abfss.impl": f"{_FILE_SYSTEM}.SecureAzureBlobFileSystem",
        # Delta writes its checksums by this manager. The default one opens the file system in a way that supports only
        # TLS.
        "spark.sql.streaming.checkpointFileManagerClass": f"{_STREAMING}.FileSystemBasedCheckpointFileManager",
        # Report an unavailable store within two minutes; the default takes ten times as long.
        "spark.hadoop.fs.azure.io.retry.max.retries": "8",
        "spark.hadoop.fs.azure.networking.library": "JDK_HTTP_URL_CONNECTION",
        **(_SIGNED_BY_KEY if access.has_key else _BY_TOKEN),
    }
    if not access.emulator:
        return settings
    return settings | {
        "spark.hadoop.fs.azure.abfs.endpoint": access.emulator.removeprefix("http://"),
        "spark.hadoop.fs.azure.always.use.https": "false",
        "spark.hadoop.fs.abfss.impl": f"{_FILE_SYSTEM}.AzureBlobFileSystem",
    }
