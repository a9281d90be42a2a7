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

from tidemark.capture.errors import ColumnTypeError
from tidemark.capture.source.envelope.text_values import text_decode
from tidemark.quoting.spark import quoted


@dataclass(frozen=True)
class SourceColumn:
    """`delta` and `wire` are Spark SQL types; `decode` turns the wire value `{}` into one of `delta`.

    `declared` is (type name, length, scale) in the source: enough to make the column again. `widen` turns the value
    into the lake's, where the lake's type is a wider one.
    """

    name: str
    delta: str
    wire: str
    decode: str
    declared: tuple[str, int | None, int | None]
    widen: str = "{}"

    @property
    def digits(self) -> int | None:
        """Of a time's seconds, behind the point; None of other types."""
        type_name, length, _ = self.declared
        return (length or 0) if type_name.upper() in _WITH_DIGITS else None

    @property
    def form(self) -> tuple[str, str, str, int | None]:
        """What two columns have in common whose values are written, read and kept alike."""
        return self.delta, self.wire, self.decode, self.digits

    @property
    def described(self) -> str:
        """The type in the lake and that in the source, for people."""
        type_name, *sizes = self.declared
        given = ",".join(str(one) for one in sizes if one is not None)
        return f"{self.delta} (source: {type_name}{f'({given})' if given else ''})"

    def decoded(self, wire_column: str) -> str:
        """SQL expression of the lake's value."""
        return self.widen.format(self.decode.format(wire_column))

    def from_text(self, text_column: str) -> str:
        """SQL expression of the lake's value from what the server prints."""
        return self.widen.format(text_decode(self.delta).format(text_column))

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
# The bits of an unsigned number, sent as a signed one (`bigint.unsigned.handling.mode=long`, the default).
_SIGNED_AS_SENT = "CAST({0} + IF({0} < 0, 18446744073709551616BD, 0BD) AS DECIMAL(20,0))"
# Spark's JSON reader takes 128 to 255 for a TINYINT too, and makes negative numbers of them.
_INTEGER_WIRES = {"TINYINT": "SMALLINT"}
_INTEGER_DECODES = {"TINYINT": "TRY_CAST({} AS TINYINT)", _UNSIGNED["BIGINT"]: _SIGNED_AS_SENT}
_WITH_DIGITS = {"TIME", "DATETIME", "TIMESTAMP"}
_TEXT = re.compile(r"^(VAR)?CHAR$|^(TINY|MEDIUM|LONG)?TEXT$|^ENUM$|^SET$|^JSON$|^UUID$")
_BINARY = re.compile(r"^(VAR)?BINARY$|^(TINY|MEDIUM|LONG)?BLOB$")

_DAYS = "date_add(DATE'1970-01-01', {})"
# timestamp_millis would end the whole job at a number that is no time.
_MILLIS = "CAST(timestamp_micros(TRY_MULTIPLY({}, 1000L)) AS TIMESTAMP_NTZ)"
_MICROS = "CAST(timestamp_micros({}) AS TIMESTAMP_NTZ)"
_ISO = "TRY_CAST({} AS TIMESTAMP)"


def table_schemas(table_changes: str) -> Iterator[TableSchema]:
    """The schemas in one record's `changes` (JSON text); dropped tables say nothing.

    Debezium's is a list of `tableChanges`, Canal's an object with the printed types of a table's columns.
    """
    found = json.loads(table_changes)
    if isinstance(found, dict):
        yield TableSchema(found["physical"], _printed_columns(json.loads(found["types"])))
        return
    for change in found:
        if change.get("table"):
            yield TableSchema(change["id"].replace('"', ""), change["table"]["columns"])


_PRINTED = re.compile(r"^(?P<base>\w+)(\((?P<length>\d+)(,(?P<scale>\d+))?\))?(\(.*\))?(?P<modifier>( \w+)*)$")


def _printed_columns(types: Mapping[str, str]) -> list[dict[str, Any]]:
    """Columns as Debezium lists them from types as the server prints them: `decimal(10,2)`, `int(10) unsigned`."""
    listed: list[dict[str, Any]] = []
    for position, (name, printed) in enumerate(types.items(), 1):
        found = _PRINTED.match(printed)
        type_name = f"{found['base']}{found['modifier']}".upper() if found else printed
        length, scale = (found["length"], found["scale"]) if found else (None, None)
        listed.append(
            {
                "name": name,
                "position": position,
                "typeName": type_name,
                "length": int(length) if length else None,
                "scale": int(scale) if scale else None,
            }
        )
    return listed


def dropped_tables(table_changes: str) -> Iterator[str]:
    """The physical names of tables that one record's `changes` drop."""
    found = json.loads(table_changes)
    for change in found if isinstance(found, list) else ():
        if change.get("type") == "DROP":
            yield change["id"].replace('"', "")


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
        return kind, _INTEGER_WIRES.get(kind, kind), _INTEGER_DECODES.get(kind, "{}")
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
        "TIME": ("STRING", "BIGINT", _clock(length)),
        "BOOLEAN": ("BOOLEAN", "BOOLEAN", "{}"),
        **({"BIT": ("BOOLEAN", "BOOLEAN", "{}")} if length == 1 else {}),
    }
    return fixed.get(base)


def _clock(digits: int) -> str:
    """SQL of a time as the server prints it, up to 838 hours and below zero, from microseconds."""
    seconds = "abs({0}) DIV 1000000"
    hours, minutes = f"{seconds} DIV 3600", f"lpad({seconds} DIV 60 % 60, 2, '0')"
    parts = [
        "IF({0} < 0, '-', '')",
        f"lpad({hours}, greatest(2, length({hours})), '0')",
        "':'",
        minutes,
        "':'",
        f"lpad({seconds} % 60, 2, '0')",
        *(["'.'", f"substring(lpad(abs({{0}}) % 1000000, 6, '0'), 1, {digits})"] if digits else []),
    ]
    return f"concat({', '.join(parts)})"
