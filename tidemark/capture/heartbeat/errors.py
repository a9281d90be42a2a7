"""Errors of writing heartbeats.

CaptureError
├── DatabaseAddressError   an address that cannot be used
└── HeartbeatRefusedError  the database answers, but refuses to let us write
TransientError
└── DatabaseDownError   the database does not answer
"""

from typing import Self

from tidemark.errors import TransientError
from tidemark.system.errors import CaptureError

_VARIABLE = "TIDEMARK_DATABASES"


class DatabaseAddressError(CaptureError):
    """An address that cannot be used."""

    @classmethod
    def of(cls, instance: str, problem: str) -> Self:
        return cls(
            "a source database's address cannot be used",
            expected="a=mysql://user:password@host:3306/school, several separated by commas (%25 for %, %2C, %40)",
            found=f"{instance or 'an entry'}: {problem}",
            where=_VARIABLE,
            hint=f"correct the environment variable {_VARIABLE}",
        )


class HeartbeatRefusedError(CaptureError):
    """The database answers, but refuses to let us write."""

    @classmethod
    def of(cls, instance: str, database: str, said: str) -> Self:
        return cls(
            f"no heartbeat can be written on instance {instance}",
            found=said,
            where=database,
            hint=f"correct user and password in {_VARIABLE}, and let the user INSERT, UPDATE (and once CREATE) "
            "the table heartbeat",
        )


class DatabaseDownError(TransientError):
    """The database does not answer."""

    @classmethod
    def of(cls, instance: str, database: str, said: str) -> Self:
        return cls(
            f"the database of instance {instance} does not answer",
            found=said,
            where=database,
            hint="start it; its snapshots wait until heartbeats arrive",
        )
