"""Where a table, or the lake with all its tables, is: a folder on this machine's disk, or one in an object store.

Both are used alike: `lake / "dwd_orders"` is a table's location, and `str()` of it is understood by Spark, delta-rs and
DuckDB alike, which is why it begins with `s3a://` whatever the user wrote. What is read, listed or deleted there goes
through `tidemark.storage`; Python's own functions for files know only `Path`, and mypy says where one was forgotten.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from tidemark.system.location_error import LocationError
from tidemark.system.object_access import ObjectAccess

_SCHEMES: Final = ("s3", "s3a")
_BUCKET: Final = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_KEY: Final = re.compile(r"(?!\.{1,2}(/|$))[A-Za-z0-9._=-]+(/(?!\.{1,2}(/|$))[A-Za-z0-9._=-]+)*")


@dataclass(frozen=True)
class ObjectLocation:
    """A folder in an object store: everything whose key begins with `key` and a slash."""

    bucket: str
    key: str
    access: ObjectAccess

    def __str__(self) -> str:
        return f"s3a://{self.bucket}/{self.key}"

    def __truediv__(self, name: str) -> "ObjectLocation":
        return replace(self, key=f"{self.key}/{name}")

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.key.rpartition("/")[2]

    @property
    def parent(self) -> "ObjectLocation":
        """The folder that this one is in. Raises ValueError for the first folder of a bucket."""
        above, _, _ = self.key.rpartition("/")
        if not above:
            raise ValueError(f"{self} is the first folder of its bucket")
        return replace(self, key=above)

    def with_name(self, name: str) -> "ObjectLocation":
        """The folder of that name beside this one."""
        return replace(self, key="/".join((*self.key.split("/")[:-1], name)))

    @property
    def storage_options(self) -> dict[str, str]:
        """How delta-rs, and the library of the file store, reach it; they find credentials by themselves."""
        options = {"aws_region": self.access.region, "aws_conditional_put": "etag"}
        if self.access.endpoint:
            # Servers other than AWS's have no host name a bucket.
            options |= {"aws_endpoint": self.access.endpoint, "aws_virtual_hosted_style_request": "false"}
        return options if self.access.is_encrypted else {**options, "aws_allow_http": "true"}


TableLocation: TypeAlias = Path | ObjectLocation


def is_uri(text: str) -> bool:
    """Whether a setting names no folder on disk."""
    return "://" in text


def table_location(text: str, env: Mapping[str, str] = os.environ, where: str = "the table") -> TableLocation:
    """A location of its text; a relative path begins in the working folder. Raises LocationError."""
    return object_location(text, env, where) if is_uri(text) else Path(text).absolute()


def object_location(text: str, env: Mapping[str, str], where: str) -> ObjectLocation:
    """`s3://bucket/prefix` as a location; `where` is the setting that says so. Raises LocationError."""
    try:
        parts = urlsplit(text)
    except ValueError:
        raise LocationError.malformed(where) from None
    if parts.scheme not in _SCHEMES:
        raise LocationError.scheme(where, parts.scheme)
    key = parts.path.strip("/")
    # What stands before an @ or behind a ? may be a secret: the text is not repeated.
    if not _BUCKET.fullmatch(parts.netloc) or not _KEY.fullmatch(key) or "?" in text or "#" in text:
        raise LocationError.malformed(where)
    return ObjectLocation(parts.netloc, key, ObjectAccess.of(env))
