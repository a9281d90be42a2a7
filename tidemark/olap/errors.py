"""Errors between the warehouse and an OLAP store; no text here ever holds a password.

TransientError
|-- OlapBusyError     another program holds the store; the same call may succeed later
`-- OlapDownError     the store does not answer, or the connection to it broke
TerminalError
`-- OlapStoreError
    |-- OlapRefusedError        the store refused, with its own message
    |-- OlapTableMissingError   nothing was published under that name
    |-- OlapComparisonError     the rows read back differ from those sent; rolled back
    |-- OlapSchemaError         a column that the table has with another type
    |-- OlapTypeError           a type, or a value of it, that no store returns unchanged
    |-- OlapPartitionError      rows that do not belong to the published partition
    `-- OlapSettingError        TIDEMARK_OLAP names no store
"""

from __future__ import annotations

from tidemark.errors import TerminalError, TransientError

SETTING = "TIDEMARK_OLAP"


class OlapBusyError(TransientError):
    """Another program holds the store or the partition."""

    def __init__(self, where: str, holder: str, waited_seconds: float) -> None:
        super().__init__(
            "the OLAP store is in use",
            expected=f"a free store within {waited_seconds:g} s",
            found=f"it held: {holder}",
            where=where,
            hint="close the program that holds it and try again; "
            f"for many programs at once set {SETTING} to a PostgreSQL URL",
        )


class OlapDownError(TransientError):
    """The store does not answer, or the connection to it broke."""

    def __init__(self, where: str, words: str) -> None:
        super().__init__(
            "the OLAP store does not answer",
            found=words,
            where=where,
            hint=f"nothing was committed; it is tried again. If it fails again, start the server or correct {SETTING}",
        )


class OlapStoreError(TerminalError):
    """Nothing was committed; something has to be changed first."""


class OlapRefusedError(OlapStoreError):
    """The store refused, with its own message."""

    def __init__(self, where: str, words: str) -> None:
        super().__init__("the OLAP store refused", found=words, where=where, hint=f"check the store, or set {SETTING}")


class OlapTableMissingError(OlapStoreError):
    """Nothing was published under that name."""

    def __init__(self, table: str, where: str) -> None:
        super().__init__(
            f"the OLAP store has no table '{table}'",
            where=where,
            hint="materialize the entity of that name first",
        )


class OlapComparisonError(OlapStoreError):
    """The rows read back differ from those sent; rolled back."""

    def __init__(self, table: str, partition: str, expected: str, found: str) -> None:
        super().__init__(
            "the partition read back differs from the one sent, nothing was committed",
            expected=expected,
            found=found,
            where=f"{table} {partition}",
            hint="look for triggers, rules or generated columns on the table; the old partition is unchanged",
        )


class OlapSchemaError(OlapStoreError):
    """A column that the table has with another type."""

    def __init__(self, table: str, column: str, expected: str, found: str) -> None:
        super().__init__(
            "a column's type differs from the OLAP table's",
            expected=expected,
            found=found,
            where=f"{table}.{column}",
            hint="cast it in the entity's SQL, or drop the OLAP table and export its partitions again",
        )


class OlapTypeError(OlapStoreError):
    """A type, or a value of it, that no store returns unchanged."""

    def __init__(self, column: str, found: str) -> None:
        super().__init__(
            "an OLAP store cannot store a column without a change",
            expected="bool, int, double, decimal, string, date, or timestamp of microseconds",
            found=found,
            where=column,
            hint="cast it in the entity's SQL",
        )


class OlapPartitionError(OlapStoreError):
    """Rows that do not belong to the published partition."""

    def __init__(self, table: str, column: str, expected: str, found: str) -> None:
        super().__init__(
            "rows of another partition",
            expected=f"{column}={expected} in every row",
            found=found,
            where=f"{table}.{column}",
            hint="publish each partition separately",
        )


class OlapSettingError(OlapStoreError):
    """TIDEMARK_OLAP names no store."""

    def __init__(self, found: str) -> None:
        super().__init__(
            "the setting does not name an OLAP store",
            expected="duckdb, or postgresql+psycopg2://user:password@host:port/database",
            found=found,
            where=SETTING,
        )
