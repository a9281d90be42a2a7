"""Errors of requests for an initial load.

CaptureError
├── NothingToLoadError   the instance has no table of that name
├── KeyRangeError  a range of keys that cannot be loaded
├── LoadUnderWayError a load of the same shard has not ended
├── NobodyToAskError  a table begins with a load, and an instance has no address
└── LoadRefusedError  the database answers, but refuses the request
"""

from collections.abc import Collection
from typing import Self

from tidemark.system.errors import CaptureError


class NothingToLoadError(CaptureError):
    """The instance has no table of that name."""

    @classmethod
    def of(cls, wanted: str, database: str) -> Self:
        return cls(
            "the table does not exist at the source",
            expected=f"a table {wanted}",
            found="no table that the user can see",
            where=database,
            hint="correct `table` in the entity's source or the address in TIDEMARK_DATABASES, or GRANT SELECT",
        )


class KeyRangeError(CaptureError):
    """A range of keys that cannot be loaded."""

    @classmethod
    def of_text(cls, text: str) -> Self:
        return cls("this is not a range of keys", expected="LOW..HIGH, LOW.. or ..HIGH of whole numbers", found=text)

    @classmethod
    def of_type(cls, shard: str, column: str, printed: str) -> Self:
        return cls(
            "rows cannot be loaded by a range of this key",
            expected="a column of whole numbers",
            found=printed or "no such column",
            where=f"{column} of {shard}",
            hint="load the shard: tidemark capture reload TABLE --shard NAME",
        )


class LoadUnderWayError(CaptureError):
    """A load of the same shard has not ended. Its end would count as the end of the new one."""

    @classmethod
    def of(cls, shards: Collection[str], table: str) -> Self:
        return cls(
            "a load is still running",
            expected="no running load of these shards",
            found=", ".join(sorted(shards)),
            where=table,
            hint="try again when tidemark capture status shows that the load has ended; if the connector lost that "
            "load (its offsets or its topic were deleted), it never ends: use --again",
        )


class NobodyToAskError(CaptureError):
    """A table begins with a load, and an instance has no address."""

    @classmethod
    def of(cls, table: str, missing: Collection[str]) -> Self:
        return cls(
            "a table is loaded from its source, and an instance has no address",
            expected=f"an address of {', '.join(sorted(missing))} in TIDEMARK_DATABASES",
            found="none",
            where=table,
            hint="a=mysql://user:password@host:3306/school; or declare `start: earliest` in the entity's source",
        )


class LoadRefusedError(CaptureError):
    """The database answers, but refuses the request."""

    @classmethod
    def of(cls, instance: str, database: str, said: str) -> Self:
        return cls(
            f"a load cannot be requested on instance {instance}",
            found=said,
            where=database,
            hint="correct user and password in TIDEMARK_DATABASES, and let the user INSERT into (and once CREATE) the "
            "table tidemark_signal",
        )
