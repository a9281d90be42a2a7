"""Inputs of the last runs of many slices, directly from the stored manifests, without creating objects.

A run that the center did not launch reports its inputs at its end; a run of another system does not report them. A
slice that got back its earlier result has the inputs of that result.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from tidemark.dependency_model.slice import Slice
from tidemark.state_store.bulk_write import text_array
from tidemark.state_store.row_codec import sub_of
from tidemark.state_store.slice_lookup import raw
from tidemark.strict_json import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    Read = tuple[Slice, int]

_CHUNK: Final = 5_000
_COLUMNS: Final = "launch.entity, launch.key, launch.sub, launch.details"
_LAUNCHES: Final = {
    "sqlite": f"""
        SELECT {_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN transitions AS launch
            ON launch.entity = wanted.value ->> 0 AND launch.key = wanted.value ->> 1
            AND launch.sub = wanted.value ->> 2
        JOIN slices ON slices.entity = launch.entity AND slices.key = launch.key AND slices.sub = launch.sub
        WHERE launch.generation <= slices.generation AND (launch.event IN ('launched', 'forced')
            OR launch.event IN ('completed', 'backfilled') AND instr(launch.details, '"manifest"') > 0)
        ORDER BY launch.seq""",  # noqa: S608 - names of our columns
    "postgresql": f"""
        SELECT {_COLUMNS} FROM unnest(%s::text[], %s::text[], %s::text[]) AS wanted (entity, key, sub)
        CROSS JOIN LATERAL (SELECT * FROM transitions WHERE transitions.entity = wanted.entity
            AND transitions.key = wanted.key AND transitions.sub = wanted.sub OFFSET 0) AS launch
        JOIN slices ON slices.entity = launch.entity AND slices.key = launch.key AND slices.sub = launch.sub
        WHERE launch.generation <= slices.generation AND (launch.event IN ('launched', 'forced')
            OR launch.event IN ('completed', 'backfilled') AND strpos(launch.details, '"manifest"') > 0)
        ORDER BY launch.seq""",  # noqa: S608
}


def launch_reads(
    connection: Connection, wanted: Sequence[tuple[str, str, str]]
) -> Iterator[tuple[Slice, list[Read] | None]]:
    """Slices by entity, key and sub that had a run, with the slices and generations that it read."""
    details: dict[tuple[str, str, str], str | None] = {}
    for start in range(0, len(wanted), _CHUNK):
        chunk = wanted[start : start + _CHUNK]
        is_sqlite = connection.dialect.name == "sqlite"
        values = (json_text(chunk),) if is_sqlite else tuple(map(text_array, zip(*chunk, strict=True)))
        rows = raw(connection, _LAUNCHES[connection.dialect.name], values)
        details.update(((entity, key, sub), told) for entity, key, sub, told in rows)
    for (entity, key, sub), told in details.items():
        yield Slice(entity, key, sub_of(sub)), _reads(told)


def _reads(details: str | None) -> list[Read] | None:
    """None without a readable manifest."""
    try:
        manifest = json.loads(details or "{}").get("manifest")
        clauses = json.loads(manifest)["clauses"] if manifest else None
        return None if clauses is None else [read for clause in clauses for read in _of_rows(clause[2])]
    except (ValueError, TypeError, KeyError, AttributeError, IndexError):
        return None


def _of_rows(rows: Sequence[Sequence[Any]]) -> Iterator[Read]:
    """Reads the format of `SliceManifest.to_json`: entity (encoded), sub-partition, generation, version, keys."""
    for entity, sub, generation, _version, keys, *_state in rows:
        name, parts = Slice.parse(f"{entity}@0").entity if "%" in entity else entity, sub_of(sub)
        yield from ((Slice(name, key, parts), generation) for key in keys)
