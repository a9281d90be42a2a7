"""Access to Google Cloud Storage, without secrets.

Credentials are not read here. Spark, delta-rs and the file store each find them as Google's libraries do: in the file
of GOOGLE_APPLICATION_CREDENTIALS, else from the machine.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self
from urllib.parse import urlsplit

from tidemark.strict_json import json_text
from tidemark.system.endpoint import known_endpoint
from tidemark.system.location_error import LocationError

_EMULATOR: Final = "STORAGE_EMULATOR_HOST"
_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")
_OF_DELTA_RS: Final = (
    "GOOGLE_SERVICE_ACCOUNT",
    "GOOGLE_SERVICE_ACCOUNT_PATH",
    "GOOGLE_SERVICE_ACCOUNT_KEY",
    "GOOGLE_BASE_URL",
    "GOOGLE_BEARER_TOKEN",
    "GOOGLE_SKIP_SIGNATURE",
)
"""Variables that Spark does not read, so it would be another user, or use another store."""


@dataclass(frozen=True)
class GcsAccess:
    """`emulator` is `http(s)://host:port` on this machine, used without credentials; empty for Google's own store."""

    emulator: str = ""
    scheme: ClassVar = "gs"
    namespace: ClassVar = "gs"
    buckets: ClassVar = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")

    @classmethod
    def of(cls, env: Mapping[str, str], _bucket: str) -> Self:
        """The access by the environment variables of Google's tools. Raises LocationError."""
        for name in _OF_DELTA_RS:
            if env.get(name):
                raise LocationError.one_reads_it(name, "GOOGLE_APPLICATION_CREDENTIALS to the file of a key")
        text = env.get(_EMULATOR)
        if not text:
            return cls()
        emulator = known_endpoint(text, LocationError.emulator(_EMULATOR))
        if urlsplit(emulator).hostname not in _LOOPBACK:
            raise LocationError.emulator(_EMULATOR)
        return cls(emulator)

    @property
    def storage_options(self) -> dict[str, str]:
        """The options for delta-rs and the file store's library, which find credentials themselves."""
        if not self.emulator:
            return {}
        # The library's way to another server is in the form of a key, without a real key.
        nobody = dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
        key = json_text({"gcs_base_url": self.emulator, "disable_oauth": True, **nobody})
        return {"google_service_account_key": key, "google_allow_http": "true"}
