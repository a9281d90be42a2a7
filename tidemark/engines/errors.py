"""Errors of the locations and code for other engines.

TerminalError
|-- NoSliceToReadError     the entity has no rows in a Delta table of the lake
`-- EngineCannotReadError  an engine cannot read the lake's storage, or a column type of the table
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from tidemark.errors import TerminalError

if TYPE_CHECKING:
    from collections.abc import Collection


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
