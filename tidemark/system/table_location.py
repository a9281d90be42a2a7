"""The place of a table, or of the lake: a folder on the local disk, in an object store or in HDFS.

All kinds are used alike: `lake / "dwd_orders"` is a table's location. Its `str()` is valid for Spark and delta-rs, so
it begins with `s3a://` if the user wrote `s3://`. Reads, listings and deletions go through `tidemark.storage`. Python's
own file functions take only `Path`, and mypy finds wrong uses.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self, TypeAlias
from urllib.parse import urlsplit

from tidemark.system.azure_access import AzureAccess
from tidemark.system.gcs_access import GcsAccess
from tidemark.system.location_error import LocationError
from tidemark.system.s3_access import S3Access

ObjectAccess: TypeAlias = S3Access | GcsAccess | AzureAccess
_OBJECT_STORES: Final[Mapping[str, type[ObjectAccess]]] = {
    "s3": S3Access,
    "s3a": S3Access,
    "gs": GcsAccess,
    "abfss": AzureAccess,
}
_HDFS: Final = "hdfs"
_AUTHORITY: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?")
_KEY: Final = re.compile(r"(?!\.{1,2}(/|$))[A-Za-z0-9._=-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9._=-]+)*")


class _RemoteFolder:
    """The common part of remote locations: a `key`, the path of the folder without slashes at the ends."""

    key: str

    def __truediv__(self, name: str) -> Self:
        return self._at(f"{self.key}/{name}")

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> Self:
        """The folder above. Raises ValueError for the first folder of a bucket or a file system."""
        above, _, _ = self.key.rpartition("/")
        if not above:
            raise ValueError(f"{self} is the first folder of its bucket or file system")
        return self._at(above)

    def with_name(self, name: str) -> Self:
        """The folder with that name in the same parent folder."""
        return self._at("/".join((*self.key.split("/")[:-1], name)))

    def _at(self, key: str) -> Self:
        raise NotImplementedError


@dataclass(frozen=True)
class ObjectLocation(_RemoteFolder):
    """A folder in an object store: all objects whose key begins with `key` and a slash.

    `bucket` is the part of the URI before the key; in Azure `container@account.dfs.core.windows.net`.
    """

    bucket: str
    key: str
    access: ObjectAccess

    def __str__(self) -> str:
        return f"{self.access.scheme}://{self.bucket}/{self.key}"

    def _at(self, key: str) -> Self:
        return replace(self, key=key)

    @property
    def storage_options(self) -> dict[str, str]:
        """The options for delta-rs and the file store's library, which find credentials themselves."""
        return self.access.storage_options


@dataclass(frozen=True)
class HdfsLocation(_RemoteFolder):
    """A folder in HDFS. `authority` is a name node's `host:port`, or the name of a name service."""

    authority: str
    key: str

    def __str__(self) -> str:
        return f"hdfs://{self.authority}/{self.key}"

    def _at(self, key: str) -> Self:
        return replace(self, key=key)

    @property
    def is_name_service(self) -> bool:
        """Whether its name nodes are listed in Hadoop's configuration."""
        return ":" not in self.authority


RemoteLocation: TypeAlias = ObjectLocation | HdfsLocation
TableLocation: TypeAlias = Path | RemoteLocation


def is_uri(text: str) -> bool:
    """Whether a setting is a URI, not a folder on disk."""
    return "://" in text


def table_location(text: str, env: Mapping[str, str] = os.environ, where: str = "the table") -> TableLocation:
    """The location of a text; a relative path begins in the working folder. Raises LocationError."""
    return remote_location(text, env, where) if is_uri(text) else Path(text).absolute()


def remote_location(text: str, env: Mapping[str, str], where: str) -> RemoteLocation:
    """The location of a URI in an object store or in HDFS; `where` is the setting's name. Raises LocationError."""
    scheme = text.partition("://")[0]
    if scheme == _HDFS:
        return _hdfs_location(text, env, where)
    if scheme in _OBJECT_STORES:
        return object_location(text, env, where)
    raise LocationError.scheme(where, scheme)


def object_location(text: str, env: Mapping[str, str], where: str) -> ObjectLocation:
    """The location of `s3://bucket/prefix`, `gs://...`, `abfss://...`; `where` is for errors. Raises LocationError."""
    bucket, key = _parts(text)
    access = _OBJECT_STORES[text.partition("://")[0]]
    if not access.buckets.fullmatch(bucket) or not _KEY.fullmatch(key):
        raise LocationError.malformed(where)
    return ObjectLocation(bucket, key, access.of(env, bucket))


def _hdfs_location(text: str, env: Mapping[str, str], where: str) -> HdfsLocation:
    authority, key = _parts(text)
    if not _AUTHORITY.fullmatch(authority) or not _KEY.fullmatch(key):
        raise LocationError.not_in_hdfs(where)
    location = HdfsLocation(authority, key)
    if location.is_name_service and not env.get("HADOOP_CONF_DIR"):
        raise LocationError.no_name_nodes(where)
    return location


def _parts(text: str) -> tuple[str, str]:
    """The part between the scheme and the next slash, and the rest; both empty if the text cannot be a place."""
    # The text before an @ or after a ? may be a secret, so it is not repeated.
    if "?" in text or "#" in text:
        return "", ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return "", ""
    return parts.netloc, parts.path.strip("/")
