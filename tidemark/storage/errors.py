"""Errors of the lake's files.

TransientError
└── StorageDownError        an object store that does not answer, or whose answer was lost

TerminalError
└── StorageRefusedError     an object store that lets these credentials do nothing there

A file that is not there is Python's FileNotFoundError, on disk and in object stores.
"""

from __future__ import annotations

from typing import Self

from tidemark.errors import TerminalError, TransientError


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
            expected="credentials that may list, read, write and delete there",
            where=where,
            hint="set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give rights to the machine's role",
        )
