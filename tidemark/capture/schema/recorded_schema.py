"""Schema changes in records - columns of tables, and drops - as they came, without trust in their content.

An unreadable declaration stops only its own table: the error is raised when the table's columns are read. If it names
no table, it belongs to the table of its record.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tidemark.capture.bounded_json import UnreadableJsonError, parse_json
from tidemark.capture.errors import DeclarationError, UnknownColumnTypeError
from tidemark.capture.schema.column_form import ColumnForm, TableForm
from tidemark.capture.schema.column_names import ColumnNamesError, check_distinct
from tidemark.capture.schema.lake_column_types import SourceColumn, source_column

_MAX_COLUMNS: Final = 4096
"""The most columns of a table in MySQL."""
_MAX_NAME: Final = 64 + 1 + 64
"""The most characters of `<database>.<table>`."""


class DeclaredColumns(NamedTuple):
    """`columns` can be in the lake; `unknown` cannot: source name -> reason."""

    columns: tuple[SourceColumn, ...]
    unknown: Mapping[str, UnknownColumnTypeError]


@dataclass(frozen=True)
class TableSchema:
    """One physical table (`school.orders_0`) after a schema change; `listed` are its columns as received.

    `problem` is why nothing can be read; None does not mean that `listed` is valid. `primary_key` is None if the record
    does not have it.
    """

    physical: str
    listed: object = ()
    problem: str | None = None
    primary_key: tuple[str, ...] | None = None

    def source_columns(self, excluded: Collection[str] = ()) -> DeclaredColumns:
        """The columns in the source's order, without those in `excluded` (lower-case names).

        Raises ColumnTypeError for a malformed type, DeclarationError for an invalid declaration.
        """
        try:
            return self._declared(excluded)
        except (UnreadableJsonError, ColumnNamesError) as error:
            raise DeclarationError.of(self.physical, str(error)) from error

    @property
    def form(self) -> TableForm | None:
        """The declaration of each column; None if the record has too little detail, as Canal's have."""
        listed = self.listed if isinstance(self.listed, list) else []
        columns = [column for column in listed if isinstance(column, dict) and isinstance(column.get("name"), str)]
        if not columns or len(columns) < len(listed) or not any("optional" in column for column in columns):
            return None
        return {column["name"].lower(): ColumnForm.of(column) for column in columns}

    def _declared(self, excluded: Collection[str]) -> DeclaredColumns:
        if self.problem is not None:
            raise DeclarationError.of(self.physical, self.problem)
        if not isinstance(self.listed, list) or not 0 < len(self.listed) <= _MAX_COLUMNS:
            raise DeclarationError.of(self.physical, f"not a list of 1 to {_MAX_COLUMNS} columns")
        ordered = sorted((self._column_of(column) for column in self.listed), key=lambda column: column["position"])
        if len({column["name"] for column in ordered}) < len(ordered):
            raise DeclarationError.of(self.physical, "a column that is listed twice")
        columns: list[SourceColumn] = []
        unknown: dict[str, UnknownColumnTypeError] = {}
        for column in ordered:
            if column["name"].lower() in excluded:
                continue
            try:
                columns.append(_column(self.physical, column))
            except UnknownColumnTypeError as error:
                unknown[column["name"]] = error
        check_distinct((column.source_name, column.name) for column in columns)
        return DeclaredColumns(tuple(columns), unknown)

    def _column_of(self, column: object) -> Mapping[str, Any]:
        if not isinstance(column, dict) or not isinstance(column.get("name"), str):
            raise DeclarationError.of(self.physical, "a column without a name")
        if not isinstance(column.get("position"), int):
            raise DeclarationError.of(self.physical, f"column {column['name'][:64]!r} without a position")
        return column


def _column(physical: str, listed: Mapping[str, Any]) -> SourceColumn:
    return source_column(physical, listed["name"], listed.get("typeName"), listed.get("length"), listed.get("scale"))


@dataclass(frozen=True)
class RecordDeclarations:
    """The tables that one record's `changes` declare and drop; `problem` is why a part belongs to no named table."""

    schemas: tuple[TableSchema, ...] = ()
    dropped: tuple[str, ...] = ()
    problem: str | None = None


def parse_declarations(changes: str, physical: str | None = None) -> RecordDeclarations:
    """Parses `changes` (JSON text). A part that names no table belongs to `physical`, the table of the record.

    Debezium sends a list of `tableChanges`, Canal an object with the printed types of a table's columns.
    """
    try:
        value = parse_json(changes)
    except UnreadableJsonError as error:
        return _without_table(str(error), physical)
    if isinstance(value, dict):
        return _printed_table(value, physical)
    if not isinstance(value, list):
        return _without_table(f"a JSON {type(value).__name__} in place of a list of changed tables", physical)
    return _listed_tables(value, physical)


def _without_table(problem: str, physical: str | None) -> RecordDeclarations:
    return RecordDeclarations(schemas=(TableSchema(physical, problem=problem),) if physical else (), problem=problem)


def _printed_table(value: Mapping[str, Any], physical: str | None) -> RecordDeclarations:
    name, types = value.get("physical"), value.get("types")
    if not isinstance(name, str) or not isinstance(types, str):
        return _without_table("no table with types of columns", physical)
    try:
        columns = _printed_columns(parse_json(types))
        return RecordDeclarations(schemas=(TableSchema(name, columns, primary_key=_key(value, "key")),))
    except UnreadableJsonError as error:
        return RecordDeclarations(schemas=(TableSchema(name, problem=str(error)),))


def _listed_tables(changes: list[Any], physical: str | None) -> RecordDeclarations:
    schemas: list[TableSchema] = []
    dropped: list[str] = []
    problem: str | None = None
    for change in changes:
        name = _table_name(change)
        if name is None:
            problem = "a changed table without its name"
        elif change.get("type") == "DROP":
            dropped.append(name)
        elif change.get("table"):
            table = change["table"]
            listed = table.get("columns") if isinstance(table, dict) else None
            schemas.append(TableSchema(name, listed, primary_key=_key(table, "primaryKeyColumnNames")))
    if problem is not None and physical:
        schemas.append(TableSchema(physical, problem=problem))
    return RecordDeclarations(tuple(schemas), tuple(dropped), problem)


def _key(table: object, name: str) -> tuple[str, ...] | None:
    """The columns of the primary key; None if the value is not a list of names."""
    names = table.get(name) if isinstance(table, dict) else None
    if not isinstance(names, list) or not all(isinstance(column, str) for column in names):
        return None
    return tuple(names)


def _table_name(change: object) -> str | None:
    name = change.get("id") if isinstance(change, dict) else None
    if not isinstance(name, str):
        return None
    name = name.replace('"', "")
    return name if 0 < len(name) <= _MAX_NAME else None


_PRINTED: Final = re.compile(
    r"(?P<base>\w{1,20})(\((?P<length>[0-9]{1,10})(,(?P<scale>[0-9]{1,10}))?\)|\(.*\))?(?P<modifier>( \w{1,20}){0,4})"
)


def _printed_columns(types: object) -> list[dict[str, Any]]:
    """Columns in Debezium's form from printed types such as `decimal(10,2)` and `int(10) unsigned`."""
    if not isinstance(types, dict):
        raise UnreadableJsonError("no types of columns")
    return [_printed_column(position, name, printed) for position, (name, printed) in enumerate(types.items(), 1)]


def _printed_column(position: int, name: str, printed: object) -> dict[str, Any]:
    match = _PRINTED.fullmatch(printed) if isinstance(printed, str) else None
    if match is None:
        return {"name": name, "position": position, "typeName": printed}
    return {
        "name": name,
        "position": position,
        "typeName": f"{match['base']}{match['modifier']}",
        "length": int(match["length"]) if match["length"] else None,
        "scale": int(match["scale"]) if match["scale"] else None,
    }
