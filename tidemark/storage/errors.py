"""Errors of the lake's files.

TransientError
└── StorageDownError  an object store, or HDFS, that does not answer, or whose answer was lost
TerminalError
├── StorageRefusedError  a store that refuses these credentials
└── UnsafeStoreError  a store in which two writers would lose commits

A missing file is Python's FileNotFoundError, in any store.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from tidemark.errors import TerminalError, TransientError

if TYPE_CHECKING:
    from tidemark.system.table_location import RemoteLocation


_REFUSAL: Final = re.compile(
    r"status code.{0,60}? 4(?!08|29)\d\d\b"
    r"|Operation failed: .{0,500}?, 4(?!08|29)\d\d, "
    r"|\b(AccessControl|Authorization|Authentication|InvalidPath|Sasl|\w*Quota\w*)Exception"
    # A missing or malformed file of Google's credentials: no server was asked.
    r"|Unable to (open|decode) service account file|Error reading pem file",
    re.DOTALL,
)
"""Texts of permanent refusals in the libraries' errors: HTTP statuses, and exceptions of HDFS."""


@dataclass(frozen=True)
class _Words:
    """The words of errors about a kind of store, with advice."""

    store: str
    down: str
    expected: str
    refused: str


_OBJECT_STORE: Final = _Words(
    "the object store",
    "check that it runs, and that AWS_ENDPOINT_URL and AWS_REGION are right",
    "an existing bucket, and credentials with the right to list, read, write and delete in it",
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or grant the rights to the machine's role",
)
_GOOGLE: Final = _Words(
    "the object store",
    "check that this machine can reach Google Cloud Storage, and that STORAGE_EMULATOR_HOST, if set, is right",
    "an existing bucket, and credentials with the right to list, read, write and delete in it",
    "set GOOGLE_APPLICATION_CREDENTIALS to the file of a key, or grant the rights to the machine's service account",
)
_AZURE: Final = _Words(
    "the object store",
    "check that this machine can reach Azure's storage, and that AZURE_STORAGE_ENDPOINT, if set, is right",
    "an existing container, and credentials with the right to list, read, write and delete in it",
    "set AZURE_STORAGE_ACCOUNT_KEY, or AZURE_CLIENT_ID and AZURE_TENANT_ID with AZURE_CLIENT_SECRET or "
    "AZURE_FEDERATED_TOKEN_FILE, or give the machine's identity the role Storage Blob Data Contributor",
)
_HDFS: Final = _Words(
    "HDFS",
    "check its name nodes, its data nodes, its safe mode and HADOOP_CONF_DIR",
    "a folder in which this user may list, read, write and delete, within its quota",
    "set HADOOP_USER_NAME, get a ticket if you use Kerberos, or ask the folder's owner for the rights",
)

_WORDS: Final = {"hdfs": _HDFS, "gs": _GOOGLE, "abfss": _AZURE}


def _words_of(where: str) -> _Words:
    return _WORDS.get(where.partition("://")[0], _OBJECT_STORE)


def error_of(where: str, error: Exception) -> StorageRefusedError | StorageDownError:
    """The error for a library's error. Its text may name a user, so only the first line is shown."""
    return StorageRefusedError.of(where) if _REFUSAL.search(str(error)) else StorageDownError.of(where, error)


class StorageDownError(TransientError):
    """A store that does not answer. After a put it is unknown whether the file was written."""

    @classmethod
    def of(cls, where: str, error: Exception) -> Self:
        words = _words_of(where)
        return cls(
            f"{words.store} does not answer",
            # HDFS's exceptions have their stack on further lines, or after an escaped line break.
            found=re.split(r"\n|\\n", str(error), maxsplit=1)[0],
            where=where,
            hint=words.down,
        )


class StorageRefusedError(TerminalError):
    """A store that refuses these credentials."""

    @classmethod
    def of(cls, where: str) -> Self:
        words = _words_of(where)
        return cls(f"{words.store} refuses the request", expected=words.expected, where=where, hint=words.refused)


class UnsafeStoreError(TerminalError):
    """A store in which two writers would lose commits."""

    @classmethod
    def of(cls, lake: RemoteLocation) -> Self:
        return cls(
            "commits would not be safe: the store does not refuse to replace an existing object (`If-None-Match: *` "
            "in S3 and Azure, a generation of 0 in Google's)",
            expected="that a second put of the same file is refused, as S3, Google Cloud Storage, Azure and HDFS do",
            found="the second put replaced the first",
            where=str(lake),
            hint="set TIDEMARK_WAREHOUSE to a bucket of such a store, or to a folder",
        )

    @classmethod
    def without_folders(cls, lake: RemoteLocation) -> Self:
        return cls(
            "commits would not be safe: without a hierarchical namespace a rename is a copy and a delete",
            expected="a storage account with a hierarchical namespace (Azure Data Lake Storage Gen2)",
            found="an account with a flat namespace",
            where=str(lake),
            hint="set TIDEMARK_WAREHOUSE to a container of such an account; a flat account can be upgraded",
        )
