"""Errors of asking for a first load.

CaptureError
├── NothingToLoadError   no table of that name on the instance
└── LoadRefusedError     the server answers, and does not let us ask
"""

from typing import Self

from tidemark.system.errors import CaptureError


class NothingToLoadError(CaptureError):
    """No table of that name on the instance."""

    @classmethod
    def of(cls, wanted: str, database: str) -> Self:
        return cls(
            "there is nothing to load",
            expected=f"a table {wanted}",
            found="none that the user can see",
            where=database,
            hint="correct `table` in the entity's source or the address in TIDEMARK_DATABASES, or GRANT SELECT",
        )


class LoadRefusedError(CaptureError):
    """The server answers, and does not let us ask."""

    @classmethod
    def of(cls, instance: str, database: str, said: str) -> Self:
        return cls(
            f"no load can be asked for on instance {instance}",
            found=said,
            where=database,
            hint="correct user and password in TIDEMARK_DATABASES, and let the user INSERT into (and once CREATE) the "
            "table tidemark_signal",
        )
