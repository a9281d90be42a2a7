"""How an object store is reached: its endpoint and its region, and no secret.

Credentials are not read here. Spark, delta-rs and the file store each find them by the provider's own chain: the
variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN), else the role of the machine.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlsplit

from tidemark.system.location_error import LocationError

_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_REGION_OF_OTHERS: Final = "us-east-1"
"""What servers that know no regions are asked with."""
_UNSAFE: Final = {
    "AWS_S3_LOCKING_PROVIDER": "only delta-rs would respect that lock, Spark would not",
    "AWS_S3_ALLOW_UNSAFE_RENAME": "of two writers one would lose its commit",
}


@dataclass(frozen=True)
class ObjectAccess:
    """`endpoint` is `http(s)://host:port`, empty for the provider's own."""

    region: str
    endpoint: str = ""

    @classmethod
    def of(cls, env: Mapping[str, str]) -> Self:
        """As AWS's own tools read it from the environment. Raises LocationError."""
        for name, harm in _UNSAFE.items():
            if env.get(name):
                raise LocationError.unsafe(name, harm)
        variable = next((name for name in _ENDPOINTS if env.get(name)), None)
        endpoint = _known_endpoint(variable, env[variable]) if variable else ""
        region = next((env[name] for name in _REGIONS if env.get(name)), _REGION_OF_OTHERS if endpoint else "")
        if not region:
            raise LocationError.no_region()
        return cls(region, endpoint)

    @property
    def is_encrypted(self) -> bool:
        """Whether requests go by TLS."""
        return not self.endpoint.startswith("http://")


def _known_endpoint(variable: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    # A user or a query may be a secret: the text is not repeated then.
    if not usable or parts.username or parts.password or parts.query or parts.fragment or parts.path.strip("/"):
        raise LocationError.endpoint(variable)
    return f"{parts.scheme}://{parts.netloc}"
