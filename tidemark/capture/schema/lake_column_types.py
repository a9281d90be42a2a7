"""Source columns as Delta columns: the lake's type, Debezium's form on the wire, and the exact conversion.

Types come from the `tableChanges` of recorded schema changes, so columns need no declaration. Wire forms:
https://debezium.io/documentation/reference/connectors/mariadb.html#mariadb-data-types with
`decimal.handling.mode=string` and the default `time.precision.mode`.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from tidemark.capture.errors import ColumnTypeError, UnknownColumnTypeError
from tidemark.capture.schema.column_names import lake_name
from tidemark.capture.schema.source_types import (
    BINARIES,
    DECIMALS,
    INTEGERS,
    TEXTS,
    SourceType,
    SourceTypeError,
    UnknownWordError,
)
from tidemark.quoting.spark import quote

DECIMAL_TEXT: Final = "IF(length({0}) <= 128 AND NOT {0} RLIKE '[eE][+-]?0*[1-9][0-9][0-9]', {0}, NULL)"
"""SQL of the text `{0}` of a decimal number; NULL if reading it would take minutes or end the job. The longest decimal
of a database has 65 digits. An exponent, which Java prints for small numbers, has two."""

# Years 0001 to 9999: Python and the server have no other dates.
_TIME_TEXT: Final = "IF(substring({0}, 5, 1) = '-' AND {0} >= '0001', {0}, NULL)"

_DECODED: Final = {
    "STRING": "{0}",
    # Each byte comes as the character with the same number.
    "BINARY": "encode({0}, 'ISO-8859-1')",
    **{kind: f"TRY_CAST({_TIME_TEXT} AS {kind})" for kind in ("DATE", "TIMESTAMP", "TIMESTAMP_NTZ")},
}


def text_decode(delta: str) -> str:
    """SQL that reads a printed value `{0}` as the Delta type; NULL if the value is invalid.

    Canal prints a TIMESTAMP in its JVM's zone, which has to be UTC like the session's.
    """
    text = DECIMAL_TEXT if delta.startswith("DECIMAL") else "{0}"
    return _DECODED.get(delta, f"TRY_CAST({text} AS {delta})")


class Encoding(NamedTuple):
    """`delta` and `wire` are Spark SQL types; `decode` is SQL that converts the wire value `{0}` to `delta`.

    With `is_partial` it gives NULL for a value that the type does not have.
    """

    delta: str
    wire: str
    decode: str = "{0}"
    is_partial: bool = False


@dataclass(frozen=True)
class SourceColumn:
    """A column of the lake as a shard writes it: `source_name` is its name in records, `name` the lake's.

    `widen` is SQL that converts the value to the lake's type, if that is wider.
    """

    name: str
    source_name: str
    source_type: SourceType
    encoding: Encoding
    widen: str = "{}"

    @property
    def delta(self) -> str:
        """The type in the lake."""
        return self.encoding.delta

    @property
    def declaration(self) -> tuple[str, int | None, int | None]:
        """Type name, length and scale in the source: enough to construct the column again."""
        return self.source_type.name, self.source_type.length, self.source_type.scale

    @property
    def digits(self) -> int | None:
        """The digits of a time's seconds after the point; None for other types."""
        return self.source_type.second_digits

    @property
    def form(self) -> tuple[str, Encoding, int | None]:
        """Two columns with equal forms have values that are written, read and stored alike."""
        return self.source_name, self.encoding, self.digits

    @property
    def description(self) -> str:
        """The types in the lake and in the source, for people."""
        return f"{self.delta} (source: {self.source_type})"

    def decode_sql(self, wire_column: str) -> str:
        """SQL of the lake's value, from the wire value."""
        return self.widen.format(self.encoding.decode.format(wire_column))

    def from_text(self, text_column: str) -> str:
        """SQL of the lake's value, from the server's printed text."""
        return self.widen.format(text_decode(self.delta).format(text_column))

    @property
    def wire_field(self) -> str:
        """The column in a from_json schema."""
        return f"{quote(self.source_name)} {self.encoding.wire}"


_SIGNED: Final = {"MEDIUMINT": "INT"}
_UNSIGNED: Final = {
    "TINYINT": "SMALLINT",
    "SMALLINT": "INT",
    "MEDIUMINT": "INT",
    "INT": "BIGINT",
    "BIGINT": "DECIMAL(20,0)",
}
# Delta's limit.
_MAX_DECIMAL_DIGITS: Final = 38

# An invalid time becomes NULL; the functions alone would end the whole job. Years are 0001 to 9999.
_DATE: Final = "IF({0} BETWEEN -719162 AND 2932896, date_add(DATE'1970-01-01', {0}), NULL)"
_MILLIS: Final = (
    "IF({0} BETWEEN -62135596800000 AND 253402300799999, CAST(timestamp_millis({0}) AS TIMESTAMP_NTZ), NULL)"
)
_MICROS: Final = (
    "IF({0} BETWEEN -62135596800000000 AND 253402300799999999, CAST(timestamp_micros({0}) AS TIMESTAMP_NTZ), NULL)"
)
_LONGEST_TIME: Final = 3_020_399_999_999
"""Microseconds in 838:59:59.999999, the largest TIME of MySQL."""

# Reads the JSON number's text: read as a number, 1e-1000000000 would be 0.
_WHOLE: Final = "TRY_CAST(IF(length({0}) <= 20 AND NOT {0} RLIKE '[^0-9-]', {0}, NULL) AS DECIMAL(20,0))"
_INTEGER_ENCODINGS: Final = {
    # Spark's JSON reader accepts 128 to 255 for a TINYINT and turns them into negative numbers.
    "TINYINT": Encoding("TINYINT", "SMALLINT", "TRY_CAST({0} AS TINYINT)", is_partial=True),
    # The bits of an unsigned number, sent as signed (`bigint.unsigned.handling.mode=long`, the default).
    "DECIMAL(20,0)": Encoding(
        "DECIMAL(20,0)",
        "STRING",
        f"CAST({_WHOLE} + IF({_WHOLE} < 0, 18446744073709551616BD, 0BD) AS DECIMAL(20,0))",
        is_partial=True,
    ),
}
_FIXED: Final = {
    "DATE": Encoding("DATE", "INT", _DATE, is_partial=True),
    "TIMESTAMP": Encoding("TIMESTAMP", "STRING", text_decode("TIMESTAMP"), is_partial=True),
    "YEAR": Encoding("INT", "INT"),
    "FLOAT": Encoding("FLOAT", "FLOAT"),
    "DOUBLE": Encoding("DOUBLE", "DOUBLE"),
    "BOOLEAN": Encoding("BOOLEAN", "BOOLEAN"),
    **dict.fromkeys(TEXTS, Encoding("STRING", "STRING")),
    **dict.fromkeys(BINARIES, Encoding("BINARY", "STRING", "TRY_TO_BINARY({0}, 'base64')", is_partial=True)),
}


def source_column(
    physical: str, name: str, type_name: object, length: object = None, scale: object = None
) -> SourceColumn:
    """The column of a type in the source.

    Raises UnknownColumnTypeError for a type without a counterpart in the lake, ColumnTypeError for an invalid type.
    """
    try:
        source_type = SourceType.parse(type_name, length, scale)
    except UnknownWordError as error:
        raise UnknownColumnTypeError.unknown(physical, name, str(error)) from error
    except SourceTypeError as error:
        raise ColumnTypeError.unknown(physical, name, str(error)) from error
    encoding = _encoding(source_type)
    if encoding is None:
        raise UnknownColumnTypeError.unknown(physical, name, str(source_type))
    return SourceColumn(lake_name(name), name, source_type, encoding)


def _encoding(kind: SourceType) -> Encoding | None:
    if kind.word in INTEGERS:
        delta = _UNSIGNED[kind.word] if kind.is_unsigned else _SIGNED.get(kind.word, kind.word)
        return _INTEGER_ENCODINGS.get(delta, Encoding(delta, delta))
    if kind.word in DECIMALS:
        return _decimal(kind.digits, kind.scale or 0)
    if kind.word == "DATETIME":
        decode = _MILLIS if (kind.length or 0) <= 3 else _MICROS
        return Encoding("TIMESTAMP_NTZ", "BIGINT", decode, is_partial=True)
    if kind.word == "TIME":
        return Encoding("STRING", "BIGINT", _clock(kind.length or 0), is_partial=True)
    if kind.word == "BIT" and kind.length == 1:
        return _FIXED["BOOLEAN"]
    return _FIXED.get(kind.word)


def _decimal(digits: int, scale: int) -> Encoding | None:
    """The encoding of a decimal; None if it has more digits than the lake supports."""
    if digits > _MAX_DECIMAL_DIGITS:
        return None
    delta = f"DECIMAL({digits},{scale})"
    return Encoding(delta, "STRING", f"TRY_CAST({DECIMAL_TEXT} AS {delta})", is_partial=True)


def _clock(digits: int) -> str:
    """SQL of a time as the server prints it, from microseconds: up to 838 hours, possibly negative."""
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
    return f"IF({{0}} BETWEEN -{_LONGEST_TIME} AND {_LONGEST_TIME}, concat({', '.join(parts)}), NULL)"
