"""Errors of the audit.

CaptureError
├── AuditRefusedError  the database answers, but refuses to let us read
├── SlowRangeError  a range took the server too long
└── NothingToAuditError   no captured table has a database with an address
"""

from typing import Self

from tidemark.system.errors import CaptureError


class AuditRefusedError(CaptureError):
    """The database answers, but refuses to let us read."""

    @classmethod
    def of(cls, instance: str, database: str, said: str) -> Self:
        return cls(
            f"the tables of instance {instance} cannot be compared",
            found=said,
            where=database,
            hint="correct user and password in TIDEMARK_DATABASES, and GRANT SELECT on the captured tables to the user",
        )


class SlowRangeError(CaptureError):
    """A range took the server too long."""

    @classmethod
    def of(cls, instance: str, seconds: int) -> Self:
        return cls(
            f"a range of instance {instance} takes too long to compare",
            found=f"more than {seconds} seconds; the next cycle uses ranges of half the size",
        )


class NothingToAuditError(CaptureError):
    """No captured table has a database with an address."""

    @classmethod
    def of(cls, tables: str) -> Self:
        return cls(
            "there is nothing to compare",
            expected=f"an address of an instance of {tables}",
            found="none",
            where="TIDEMARK_DATABASES",
            hint="a=mysql://user:password@host:3306/school, several separated by commas",
        )
