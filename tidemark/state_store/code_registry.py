"""The code that computed each slice, written with the results of runs, each code once.

The code is unknown for a slice that was requested again, or computed by a run that did not report its code: the stored
row has another generation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, select

from tidemark.dependency_model.slice import Slice
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.schema import CODE_VERSIONS, SLICE_CODES, SLICES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Join

    from tidemark.state_store.database import Database

_CHUNK = 500


class StoredCode(NamedTuple):
    """A code that computed slices of an entity; `content` is empty if the run reported only its id."""

    code: str
    entity: str
    content: str


class CodeRegistry:
    """Reads the codes that the writer of transitions stores. All methods raise StateStoreDownError."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def is_known(self, code: str, entity: str) -> bool:
        """Whether the content of an entity's code is stored."""
        columns = CODE_VERSIONS.c
        query = select(columns.code).where(columns.code == code, columns.entity == entity, columns.content != "")
        with self._database.reading() as connection:
            return connection.execute(query).first() is not None

    def codes(self) -> list[StoredCode]:
        """All codes that have computed slices."""
        columns = CODE_VERSIONS.c
        with self._database.reading() as connection:
            rows = connection.execute(select(columns.code, columns.entity, columns.content))
            return [StoredCode(*row) for row in rows]

    def slices_by(self, codes: Iterable[str]) -> dict[str, list[Slice]]:
        """Completed slices by code, in order of their keys."""
        wanted, by_code = list(codes), dict[str, list[Slice]]()
        columns = SLICE_CODES.c
        query = select(columns.code, columns.entity, columns.key, columns.sub).select_from(_joined())
        with self._database.reading() as connection:
            for start in range(0, len(wanted), _CHUNK):
                chosen = query.where(columns.code.in_(wanted[start : start + _CHUNK]), SLICES.c.life == "completed")
                for code, entity, key, sub in connection.execute(chosen.order_by(columns.key, columns.sub)):
                    by_code.setdefault(code, []).append(Slice(entity, key, sub_of(sub)))
        return by_code

    def of_unknown_code(self) -> dict[str, int]:
        """The number of completed slices without a known code, by entity."""
        counted = select(SLICES.c.entity, func.count()).where(SLICES.c.life == "completed").group_by(SLICES.c.entity)
        with self._database.at_one_instant() as connection:
            known = {name: count for name, count in connection.execute(counted.select_from(_joined()))}  # noqa: C416
            return {
                name: count - known.get(name, 0)
                for name, count in connection.execute(counted)
                if count > known.get(name, 0)
            }


def _joined() -> Join:
    of_slice = and_(*(SLICES.c[name] == SLICE_CODES.c[name] for name in ("entity", "key", "sub", "generation")))
    return SLICE_CODES.join(SLICES, of_slice)
