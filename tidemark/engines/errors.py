"""Errors of the locations and code for other engines.

TerminalError
|-- NoSliceToReadError      the entity has no rows in a Delta table of the lake
|-- EngineCannotReadError   an engine cannot read the lake's storage, or a column type of the table
|-- IcebergCannotHoldError  Iceberg has nothing for a part of the Delta table
`-- NotInIcebergError       the Iceberg metadata of an entity lacks a slice or tag
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Self

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Collection

_NO_ICEBERG: Final = "remove iceberg from `read_by`"


class NoSliceToReadError(TerminalError):
    """The entity has no rows in a Delta table of the lake."""

    @classmethod
    def of(cls, entity: str) -> Self:
        return cls(
            "no slice is complete yet",
            expected="a slice that is completed, or a tag",
            found="none",
            where=entity,
            hint=f"`tidemark status` says what {entity} waits for",
        )

    @classmethod
    def external(cls, entity: str) -> Self:
        return cls(
            "the rows are not in a table of this lake",
            expected="an entity that Tidemark captures, computes or imports",
            found="an external entity without a table of its name",
            where=entity,
            hint="read them where its probe looks at them: `tidemark probe` names the place",
        )


class EngineCannotReadError(TerminalError):
    """An engine cannot read the lake's storage, or a column type of the table."""

    @classmethod
    def place(cls, engine: str, scheme: str, known: Collection[str]) -> Self:
        return cls(
            f"{engine} does not read tables there",
            expected=f"a lake in {' or '.join(sorted(known))}",
            found=scheme,
            hint="choose another engine with --for",
        )

    @classmethod
    def type(cls, engine: str, column: str, type_: object) -> Self:
        return cls(
            f"{engine} has no type for a column of the table",
            expected="a type of SQL, or an array, map or struct of such types",
            found=f"{column} {type_}",
            hint="choose another engine with --for",
        )


class IcebergCannotHoldError(TerminalError):
    """Iceberg has nothing for a part of the Delta table."""

    @classmethod
    def type(cls, table: str, column: str, type_: object) -> Self:
        return cls(
            f"Iceberg has no type for a column of {table}",
            expected="a number, text, time, boolean or binary, or an array, map or struct of such types",
            found=f"{column}: {type_}",
            hint=_NO_ICEBERG,
        )

    @classmethod
    def change(cls, table: str, column: str, old: object, new: object) -> Self:
        return cls(
            f"a column of {table} was widened in a way that Iceberg does not read",
            expected="a wider integer, a decimal with more digits of the same scale, or float to double",
            found=f"{column}: {old} to {new}",
            hint=f"write the table again with the new type, or {_NO_ICEBERG}",
        )

    @classmethod
    def partition(cls, table: str, column: str, type_: object) -> Self:
        return cls(
            f"{table} is partitioned by a column that Iceberg's metadata cannot hold here",
            expected="a number, text, date or boolean, or a time without a zone",
            found=f"{column}: {type_}",
            hint=_NO_ICEBERG,
        )

    @classmethod
    def mapping(cls, table: str, mode: str) -> Self:
        return cls(
            f"the columns of {table} have other names in its files",
            expected="a Delta table without column mapping",
            found=f"delta.columnMapping.mode = {mode}",
            hint=f"write the table again without column mapping, or {_NO_ICEBERG}",
        )

    @classmethod
    def columns(cls, table: str, wanted: Collection[str], found: Collection[str]) -> Self:
        return cls(
            f"{table} is not partitioned by the columns of its slices",
            expected=", ".join(wanted),
            found=", ".join(found) or "no partition columns",
            hint=_NO_ICEBERG,
        )


class NotInIcebergError(TerminalError):
    """The Iceberg metadata of an entity lacks a slice or tag."""

    @classmethod
    def undeclared(cls, entity: str) -> Self:
        return cls(
            "Tidemark writes no Iceberg metadata for this table",
            expected="read_by: [iceberg]",
            found="nothing",
            where=entity,
            hint="add it to the declaration, or to the project's defaults",
        )

    @classmethod
    def missing(cls, entity: str, name: str, why: str) -> Self:
        return cls(
            f"the Iceberg metadata of {entity} has no tag {name}",
            expected="a slice that is complete, or a tag, written by the center a few seconds after it",
            found=why,
            where=entity,
            hint="`tidemark delta iceberg` writes it now",
        )
