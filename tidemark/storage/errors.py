"""Errors of the lake's files.

TransientError
└── StorageDownError        an object store that does not answer, or whose answer was lost

TerminalError
├── StorageRefusedError     an object store that lets these credentials do nothing there
└── UnsafeStoreError        an object store in which two writers would lose commits

A file that is not there is Python's FileNotFoundError, on disk and in object stores.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from tidemark.system.table_location import ObjectLocation


_REFUSAL: Final = re.compile(r"status code.{0,60}? 4(?!08|29)\d\d\b", re.DOTALL)
"""How obstore and delta-rs tell what a server answers that no further try changes."""


def error_of(where: str, error: Exception) -> StorageRefusedError | StorageDownError:
    """What a library's error means; of its text, which may name a user, no more than the first line is told."""
    return StorageRefusedError.of(where) if _REFUSAL.search(str(error)) else StorageDownError.of(where, error)


class StorageDownError(TransientError):
    """An object store that does not answer; of a put it is not known then whether the file was written."""

    @classmethod
    def of(cls, where: str, error: Exception) -> Self:
        return cls(
            "the object store does not answer",
            found=str(error).partition("\n")[0],
            where=where,
            hint="look whether it runs, and whether AWS_ENDPOINT_URL and AWS_REGION are right",
        )


class StorageRefusedError(TerminalError):
    """An object store that lets these credentials do nothing there."""

    @classmethod
    def of(cls, where: str) -> Self:
        return cls(
            "the object store refuses the request",
            expected="a bucket that is there, and credentials that may list, read, write and delete in it",
            where=where,
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give rights to the machine's role",
        )


class UnsafeStoreError(TerminalError):
    """An object store in which two writers would lose commits."""

    @classmethod
    def of(cls, lake: ObjectLocation) -> Self:
        return cls(
            "commits would not be safe: the object store does not keep `If-None-Match: *`",
            expected="a second put of one object to be refused, as S3 itself does",
            found="it took the first one's place",
            where=str(lake),
            hint="set TIDEMARK_WAREHOUSE to a bucket of a store that keeps it, or to a folder",
        )
