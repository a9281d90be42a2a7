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
    """What commits are safe by, and what has to be as delta-rs has it; nobody may set it otherwise.

    Credentials are read from the environment by our own classes: no setting, which Spark may show, holds any.
    """
    settings = {
        "spark.delta.logStore.abfss.impl": LOG_STORE,
        "spark.hadoop.fs.abfss.impl": f"{_FILE_SYSTEM}.SecureAzureBlobFileSystem",
        # Delta's checksums are written by it. The other one loads the file system in a way that knows TLS alone.
        "spark.sql.streaming.checkpointFileManagerClass": f"{_STREAMING}.FileSystemBasedCheckpointFileManager",
        # A store that stays away is told of within two minutes; the default waits ten times as long.
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
