"""The columns of a captured table: in the lake, and as each shard writes them, with the offset from which that holds.

Shards are altered one after the other, and records from before an ALTER are read after it. So a value is read in the
form that its own shard had at its own offset, and then converted to the lake's type.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

from tidemark.capture.schema.column_form import ColumnForm, TableForm
from tidemark.capture.schema.lake_column_types import SourceColumn, source_column
from tidemark.capture.schema.type_widening import conversion


class ColumnShape(NamedTuple):
    """From `offset` of its instance's topic on, `shard` (`a.school.orders_0`) writes the column in this form."""

    shard: str
    offset: int
    column: SourceColumn


@dataclass(frozen=True)
class TableColumns:
    """`lake` are the table's columns, in the order of their addition; each type is the widest of all shards.

    `first` are widened columns in their original form, which shards without an entry in `shapes` write. `quarantined`
    are source columns without a type in the lake: name -> name and type as text. `forms` are the known declarations of
    the shards (`a.school.orders_0`).
    """

    lake: tuple[SourceColumn, ...] = ()
    first: Mapping[str, SourceColumn] = field(default_factory=dict)
    shapes: tuple[ColumnShape, ...] = ()
    quarantined: Mapping[str, str] = field(default_factory=dict)
    forms: Mapping[str, TableForm] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.lake)

    @cached_property
    def by_name(self) -> Mapping[str, SourceColumn]:
        """The lake's columns by name."""
        return {column.name: column for column in self.lake}

    @cached_property
    def kinds(self) -> Mapping[str, str]:
        """The types of the lake's columns by name."""
        return {column.name: column.delta for column in self.lake}

    def shape_at(self, shard: str, name: str, offset: int) -> SourceColumn:
        """The form in which the shard writes a column of the lake at an offset."""
        mine = (
            shape for shape in self._by_shard.get(shard, ()) if shape.column.name == name and shape.offset <= offset
        )
        newest = max(mine, key=lambda shape: shape.offset, default=None)
        return newest.column if newest else self.first.get(name, self.by_name[name])

    @cached_property
    def _by_shard(self) -> Mapping[str, Sequence[ColumnShape]]:
        shapes_of: dict[str, list[ColumnShape]] = defaultdict(list)
        for shape in self.shapes:
            shapes_of[shape.shard].append(shape)
        return shapes_of

    def row_at(self, shard: str, offset: int) -> tuple[SourceColumn, ...]:
        """The form of the shard's rows at an offset, with the conversion of each value to the lake's type."""
        return tuple(self._as_lake(self.shape_at(shard, column.name, offset), column) for column in self.lake)

    def turns_of(self, shard: str) -> list[int]:
        """The offsets at which the shard's columns changed form, sorted."""
        return sorted({change.offset for change in self._by_shard.get(shard, ())})

    def wider_columns_since(self, before: "TableColumns") -> dict[str, tuple[str, str]]:
        """Columns with a wider type than in `before`: name -> (new type, SQL that converts old values)."""
        old = {column.name: (column, conversion(column, self.by_name[column.name])) for column in before.lake}
        return {
            name: (self.by_name[name].delta, convert)
            for name, (column, convert) in old.items()
            if convert is not None and (convert != "{}" or column.delta != self.by_name[name].delta)
        }

    def _as_lake(self, shape: SourceColumn, lake: SourceColumn) -> SourceColumn:
        convert = conversion(shape, lake)
        if convert is None:
            raise AssertionError(f"{lake.name}: the lake's {lake.description} does not hold {shape.description}")
        return replace(shape, widen=convert)

    def to_json(self) -> dict[str, Any]:
        """The form that a commit stores."""
        return {
            "columns": [_as_list(column) for column in self.lake],
            "first": [_as_list(waiting) for waiting in self.first.values()],
            "shapes": [[shape.shard, shape.offset, *_as_list(shape.column)] for shape in self.shapes],
            **({"quarantined": dict(self.quarantined)} if self.quarantined else {}),
            **({"forms": _forms_as_json(self.forms)} if self.forms else {}),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Self:
        """The columns of a value from `to_json`."""
        lake = tuple(_column(listed) for listed in entry["columns"])
        names = {column.name.lower(): column.name for column in lake}
        first = [_column(listed) for listed in entry.get("first", ())]
        shapes = [(shard, offset, _column(listed)) for shard, offset, *listed in entry.get("shapes", ())]
        return cls(
            lake=lake,
            first={column.name: column for column in first},
            shapes=tuple(ColumnShape(shard, offset, in_lake(column, names)) for shard, offset, column in shapes),
            quarantined=entry.get("quarantined", {}),
            forms=_forms_of_json(entry.get("forms", {})),
        )


def in_lake(column: SourceColumn, names: Mapping[str, str]) -> SourceColumn:
    """The column with the lake's name for it. `names` has these by lower-case name, because databases ignore case."""
    return replace(column, name=names.get(column.name.lower(), column.name))


def _as_list(column: SourceColumn) -> list[Any]:
    return [column.source_name, *column.declaration]


def _column(listed: Sequence[Any]) -> SourceColumn:
    return source_column("", *listed)


def _forms_as_json(forms: Mapping[str, TableForm]) -> dict[str, Any]:
    """The forms as JSON. Most shards are declared alike, so each distinct declaration is stored once."""
    distinct: list[dict[str, Any]] = []
    places: dict[str, int] = {}
    for shard, form in forms.items():
        said = {name: column.to_json() if column else None for name, column in form.items()}
        if said not in distinct:
            distinct.append(said)
        places[shard] = distinct.index(said)
    return {"distinct": distinct, "of": places}


def _forms_of_json(entry: Mapping[str, Any]) -> dict[str, TableForm]:
    distinct = [
        {name: ColumnForm.from_json(said) if said else None for name, said in columns.items()}
        for columns in entry.get("distinct", ())
    ]
    return {shard: distinct[place] for shard, place in entry.get("of", {}).items()}
