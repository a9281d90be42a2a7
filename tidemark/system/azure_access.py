"""Access to Azure Data Lake Storage, without secrets.

Credentials are not read here. Spark (by `AzureKey` and `AzureToken`), delta-rs and the file store each find them in the
environment: AZURE_STORAGE_ACCOUNT_KEY, else AZURE_CLIENT_ID and AZURE_TENANT_ID with AZURE_CLIENT_SECRET or
AZURE_FEDERATED_TOKEN_FILE, else the machine's managed identity.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self
from urllib.parse import urlsplit

from tidemark.system.endpoint import known_endpoint
from tidemark.system.free_port import LOOPBACK
from tidemark.system.location_error import LocationError

ACCOUNT_KEY: Final = "AZURE_STORAGE_ACCOUNT_KEY"
_EMULATOR: Final = "AZURE_STORAGE_ENDPOINT"
_OF_DELTA_RS: Final = (
    "AZURE_STORAGE_ACCESS_KEY",
    "AZURE_STORAGE_MASTER_KEY",
    "AZURE_STORAGE_CLIENT_ID",
    "AZURE_STORAGE_CLIENT_SECRET",
    "AZURE_STORAGE_TENANT_ID",
    "AZURE_STORAGE_AUTHORITY_ID",
    "AZURE_AUTHORITY_ID",
    "AZURE_STORAGE_AUTHORITY_HOST",
    "AZURE_STORAGE_SAS_KEY",
    "AZURE_STORAGE_SAS_TOKEN",
    "AZURE_STORAGE_TOKEN",
    "AZURE_STORAGE_USE_EMULATOR",
    "AZURE_CREDENTIAL_TYPE",
    "AZURE_ENCRYPTION_KEY",
    "AZURE_ENDPOINT",
    "AZURE_MSI_ENDPOINT",
    "AZURE_IDENTITY_ENDPOINT",
    "AZURE_OBJECT_ID",
    "AZURE_MSI_RESOURCE_ID",
    "AZURE_SKIP_SIGNATURE",
    "AZURE_USE_AZURE_CLI",
    "AZURE_USE_FABRIC_ENDPOINT",
)
"""Variables that Spark does not read, so it would be another user, or use another store."""
_TOKENS: Final = ("AZURE_CLIENT_SECRET", "AZURE_FEDERATED_TOKEN_FILE")
"""Two variables for tokens; the version of delta-rs's library decides which one has precedence."""
_CREDENTIALS: Final = (
    "AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID and AZURE_TENANT_ID with AZURE_CLIENT_SECRET or "
    "AZURE_FEDERATED_TOKEN_FILE"
)


@dataclass(frozen=True)
class AzureAccess:
    """`has_key`: requests are signed with the account's key. `emulator` is `http://127.0.0.1:port`.

    Without an emulator the servers are Microsoft's own.
    """

    account: str
    has_key: bool = False
    emulator: str = ""
    scheme: ClassVar = "abfss"
    namespace: ClassVar = "abfss"
    buckets: ClassVar = re.compile(r"(?!.*--)[a-z0-9][a-z0-9-]{1,61}[a-z0-9]@[a-z0-9]{3,24}\.dfs\.core\.windows\.net")

    @classmethod
    def of(cls, env: Mapping[str, str], bucket: str) -> Self:
        """The access by the variables of Azure's libraries; `bucket` is as in a URI. Raises LocationError."""
        for name in _OF_DELTA_RS:
            if env.get(name):
                raise LocationError.one_reads_it(name, _CREDENTIALS)
        has_key = bool(env.get(ACCOUNT_KEY))
        if not has_key and all(map(env.get, _TOKENS)):
            raise LocationError.two_users(*_TOKENS)
        account = bucket.partition("@")[2].partition(".")[0]
        emulator = _emulator(env[_EMULATOR], account) if env.get(_EMULATOR) else ""
        return cls(account, has_key, emulator)

    @property
    def storage_options(self) -> dict[str, str]:
        """The options for delta-rs and the file store's library, which find credentials themselves."""
        options = {"azure_storage_account_name": self.account}
        if not self.emulator:
            return options
        return {**options, "azure_storage_endpoint": f"{self.emulator}/{self.account}", "azure_allow_http": "true"}


def _emulator(text: str, account: str) -> str:
    """The `http://127.0.0.1:port` of an endpoint that ends in the account's name, like Azurite's."""
    error = LocationError.azure_emulator(_EMULATOR)
    address, _, name = text.rstrip("/").rpartition("/")
    if name != account:
        raise error
    emulator = known_endpoint(address, error)
    parts = urlsplit(emulator)
    # Spark gets only a host and a port.
    if parts.scheme != "http" or parts.hostname != LOOPBACK or not parts.port:
        raise error
    return emulator
