"""Access to S3, or a compatible server, without secrets: its endpoint and region.

Credentials are not read here. Spark, delta-rs and the file store each find them by the provider's own chain: the
variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (AWS_SESSION_TOKEN), else the role of the machine.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, Self

from tidemark.system.endpoint import known_endpoint
from tidemark.system.location_error import LocationError

_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_REGION_OF_OTHERS: Final = "us-east-1"
"""The region for servers without regions."""
_UNSAFE: Final = {
    "AWS_S3_LOCKING_PROVIDER": "delta-rs would respect that lock, but Spark would not",
    "AWS_S3_ALLOW_UNSAFE_RENAME": "one of two writers would lose its commit",
}


@dataclass(frozen=True)
class S3Access:
    """`endpoint` is `http(s)://host:port`, empty for the provider's own."""

    region: str
    endpoint: str = ""
    scheme: ClassVar = "s3a"
    namespace: ClassVar = "s3"
    buckets: ClassVar = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")

    @classmethod
    def of(cls, env: Mapping[str, str], _bucket: str) -> Self:
        """The access by the environment variables of AWS's tools. Raises LocationError."""
        for name, harm in _UNSAFE.items():
            if env.get(name):
                raise LocationError.unsafe(name, harm)
        variable = next((name for name in _ENDPOINTS if env.get(name)), None)
        endpoint = known_endpoint(env[variable], LocationError.endpoint(variable)) if variable else ""
        region = next((env[name] for name in _REGIONS if env.get(name)), _REGION_OF_OTHERS if endpoint else "")
        if not region:
            raise LocationError.no_region()
        return cls(region, endpoint)

    @property
    def is_encrypted(self) -> bool:
        """Whether requests use TLS."""
        return not self.endpoint.startswith("http://")

    @property
    def storage_options(self) -> dict[str, str]:
        """The options for delta-rs and the file store's library, which find credentials themselves."""
        options = {"aws_region": self.region, "aws_conditional_put": "etag"}
        if self.endpoint:
            # Servers other than AWS's have no host name for each bucket.
            options |= {"aws_endpoint": self.endpoint, "aws_virtual_hosted_style_request": "false"}
        return options if self.is_encrypted else {**options, "aws_allow_http": "true"}
