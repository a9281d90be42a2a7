"""Source columns to Delta columns: the type in the lake, how Debezium writes it, and how to read that exactly.

Types come from the `tableChanges` of recorded schema changes, so nobody declares a column. Wire forms:
https://debezium.io/documentation/reference/connectors/mariadb.html#mariadb-data-types with
`decimal.handling.mode=string` and the default `time.precision.mode`.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from resources.capture.errors import ColumnTypeError
from resources.delta.identifiers import quoted


@dataclass(frozen=True)
class SourceColumn:
    """`delta` and `wire` are Spark SQL types; `decode` turns the wire value `{}` into the lake's.

    `declared` is (type name, length, scale) in the source: enough to make the column again.
    """

    name: str
    delta: str
    wire: str
    decode: str
    declared: tuple[str, int | None, int | None]

    def decoded(self, wire_column: str) -> str:
        """SQL expression of the lake's value."""
        return self.decode.format(wire_column)

    @property
    def wire_field(self) -> str:
        """The column in a from_json schema."""
        return f"{quoted(self.name)} {self.wire}"


@dataclass(frozen=True)
class TableSchema:
    """One physical table (`school.orders_0`) as one schema change left it; `listed` are Debezium's columns."""

    physical: str
    listed: Sequence[Mapping[str, Any]]

    @property
    def columns(self) -> tuple[SourceColumn, ...]:
        """The columns in the source's order. Raises ColumnTypeError for a type the lake has no twin for."""
        ordered = sorted(self.listed, key=lambda column: int(column["position"]))
        return tuple(_listed_column(self.physical, column) for column in ordered)


_INTEGERS = {
    "TINYINT": "TINYINT",
    "SMALLINT": "SMALLINT",
    "MEDIUMINT": "INT",
    "INT": "INT",
    "INTEGER": "INT",
    "BIGINT": "BIGINT",
}
_UNSIGNED = {
    "TINYINT": "SMALLINT",
    "SMALLINT": "INT",
    "MEDIUMINT": "INT",
    "INT": "BIGINT",
    "INTEGER": "BIGINT",
    "BIGINT": "DECIMAL(20,0)",
}
_TEXT = re.compile(r"^(VAR)?CHAR$|^(TINY|MEDIUM|LONG)?TEXT$|^ENUM$|^SET$|^JSON$|^UUID$")
_BINARY = re.compile(r"^(VAR)?BINARY$|^(TINY|MEDIUM|LONG)?BLOB$")

_DAYS = "date_add(DATE'1970-01-01', {})"
_MILLIS = "CAST(timestamp_millis({}) AS TIMESTAMP_NTZ)"
_MICROS = "CAST(timestamp_micros({}) AS TIMESTAMP_NTZ)"
_ISO = "TRY_CAST({} AS TIMESTAMP)"


def table_schemas(table_changes: str) -> Iterator[TableSchema]:
    """The schemas in one record's `tableChanges` (JSON text); dropped tables say nothing."""
    for change in json.loads(table_changes):
        if change.get("table"):
            yield TableSchema(change["id"].replace('"', ""), change["table"]["columns"])


def _listed_column(physical: str, column: Mapping[str, Any]) -> SourceColumn:
    return source_column(physical, str(column["name"]), str(column["typeName"]), column["length"], column["scale"])


def source_column(physical: str, name: str, type_name: str, length: int | None, scale: int | None) -> SourceColumn:
    """A column by its type in the source. Raises ColumnTypeError for a type the lake has no twin for."""
    base, _, modifier = type_name.upper().partition(" ")
    found = _number(base, modifier, length, scale) or _by_name(base, length or 0)
    if found is None:
        raise ColumnTypeError.unknown(physical, name, type_name)
    delta, wire, decode = found
    return SourceColumn(name, delta, wire, decode, (type_name, length, scale))


def _number(base: str, modifier: str, length: int | None, scale: int | None) -> tuple[str, str, str] | None:
    if base in _INTEGERS:
        kind = (_UNSIGNED if "UNSIGNED" in modifier else _INTEGERS)[base]
        return kind, kind, "{}"
    if base in {"DECIMAL", "NUMERIC"}:
        kind = f"DECIMAL({10 if length is None else length},{scale or 0})"
        return kind, "STRING", f"TRY_CAST({{}} AS {kind})"
    return None


def _by_name(base: str, length: int) -> tuple[str, str, str] | None:
    if _TEXT.match(base):
        return "STRING", "STRING", "{}"
    if _BINARY.match(base):
        return "BINARY", "STRING", "TRY_TO_BINARY({}, 'base64')"
    fixed = {
        "DATE": ("DATE", "INT", _DAYS),
        "DATETIME": ("TIMESTAMP_NTZ", "BIGINT", _MILLIS if length <= 3 else _MICROS),
        "TIMESTAMP": ("TIMESTAMP", "STRING", _ISO),
        "YEAR": ("INT", "INT", "{}"),
        "FLOAT": ("FLOAT", "FLOAT", "{}"),
        "DOUBLE": ("DOUBLE", "DOUBLE", "{}"),
        "BOOLEAN": ("BOOLEAN", "BOOLEAN", "{}"),
    }
    return fixed.get(base)
