"""Every type of the source, every change of it, and what happens then: one row a cell.

docs/capture.md shows it as `render` writes it; test_type_matrix.py holds capture to it.
"""

from __future__ import annotations

import base64
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

Outcome = Literal["applied", "stopped"]
Change = Literal["wider", "narrower", "another", "unsigned", "members", "charset"]


def local(*parts: int) -> datetime:
    """A time without a zone."""
    return datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001 - a DATETIME has none


# type: (a value as Debezium sends it, the lake's)
EXAMPLES: dict[str, tuple[Any, Any]] = {
    "TINYINT": (-128, -128),
    "SMALLINT": (-32768, -32768),
    "MEDIUMINT": (8388607, 8388607),
    "INT": (-(2**31), -(2**31)),
    "BIGINT": (-(2**63), -(2**63)),
    "TINYINT UNSIGNED": (255, 255),
    "SMALLINT UNSIGNED": (65535, 65535),
    "MEDIUMINT UNSIGNED": (16777215, 16777215),
    "INT UNSIGNED": (2**32 - 1, 2**32 - 1),
    "BIGINT UNSIGNED": (-1, Decimal(2**64 - 1)),
    "DECIMAL(3,0)": ("-999", Decimal(-999)),
    "DECIMAL(10,2)": ("-99999999.99", Decimal("-99999999.99")),
    "DECIMAL(10,2) UNSIGNED": ("99999999.99", Decimal("99999999.99")),
    "DECIMAL(12,2)": ("1234567890.12", Decimal("1234567890.12")),
    "DECIMAL(14,4)": ("1234567890.1234", Decimal("1234567890.1234")),
    "DECIMAL(19,0)": ("9999999999999999999", Decimal(9999999999999999999)),
    "DECIMAL(20,0)": ("-5", Decimal(-5)),
    "DECIMAL(22,2)": ("0.01", Decimal("0.01")),
    "FLOAT": (0.1, 0.10000000149011612),
    "DOUBLE": (0.1, 0.1),
    "BIT(1)": (True, True),
    "VARCHAR(64)": ("\u00e4 \U0001f389", "\u00e4 \U0001f389"),
    "VARCHAR(10)": ("", ""),
    "MEDIUMTEXT": ("null", "null"),
    "JSON": ('{"a": [1, null]}', '{"a": [1, null]}'),
    "ENUM": ("it's", "it's"),
    "SET": ("a,c", "a,c"),
    "VARBINARY(16)": (base64.b64encode(bytes(range(240, 256))).decode(), bytes(range(240, 256))),
    "BLOB": ("", b""),
    "DATE": (-1, date(1969, 12, 31)),
    "DATETIME": (1_774_751_400_000, local(2026, 3, 29, 2, 30)),
    "DATETIME(3)": (-1, local(1969, 12, 31, 23, 59, 59, 999_000)),
    "DATETIME(6)": (1_774_751_400_123_456, local(2026, 3, 29, 2, 30, 0, 123_456)),
    "TIMESTAMP": ("2026-03-29T01:30:00Z", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)),
    "TIMESTAMP(6)": ("1970-01-01T00:00:01.000001Z", datetime(1970, 1, 1, 0, 0, 1, 1, tzinfo=UTC)),
    "TIME": (-3_020_399_000_000, "-838:59:59"),
    "TIME(3)": (1_500_000, "00:00:01.500"),
    "YEAR": (2155, 2155),
}
# Values that are none of the type; a text takes every value, so that there is none.
MISFITS: dict[str, Any] = {
    "TINYINT": 128,
    "SMALLINT": 32768,
    "MEDIUMINT": "many",
    "INT": 2**31,
    "BIGINT": 2**63,
    "TINYINT UNSIGNED": 2**15,
    "INT UNSIGNED": 1.5,
    "BIGINT UNSIGNED": "many",
    "DECIMAL(10,2)": "123456789.00",
    "FLOAT": "much",
    "DOUBLE": {"a": 1},
    "BIT(1)": 1,
    "VARBINARY(16)": "no base64!",
    "DATE": "2026-03-29",
    "DATETIME(3)": 2**63 - 1,
    "TIMESTAMP": "yesterday",
    "TIME": "12:00:00",
    "YEAR": "never",
}


@dataclass(frozen=True)
class Cell:
    """A column of type `source` becomes one of type `to`; `kept` is what the lake has of the value before then."""

    source: str
    change: Change
    to: str
    outcome: Outcome
    kept: Any = None


def _to(source: str, change: Change, to: str, kept: Any = ...) -> Cell:
    """Applied; the value stays as it is unless said."""
    return Cell(source, change, to, "applied", EXAMPLES[source][1] if kept is ... else kept)


def _no(source: str, change: Change, *to: str) -> list[Cell]:
    return [Cell(source, change, target, "stopped") for target in to]


CELLS: Sequence[Cell] = [
    _to("TINYINT", "wider", "SMALLINT"),
    _to("TINYINT", "wider", "INT"),
    _to("TINYINT", "wider", "BIGINT"),
    _to("TINYINT", "wider", "DECIMAL(3,0)", Decimal(-128)),
    _to("TINYINT", "wider", "FLOAT", -128.0),
    *_no("TINYINT", "narrower", "BIT(1)"),
    *_no("TINYINT", "another", "VARCHAR(64)"),
    _to("TINYINT", "unsigned", "TINYINT UNSIGNED"),
    _to("SMALLINT", "wider", "MEDIUMINT"),
    _to("SMALLINT", "wider", "DOUBLE", -32768.0),
    *_no("SMALLINT", "narrower", "TINYINT"),
    *_no("SMALLINT", "another", "DATE"),
    _to("SMALLINT", "unsigned", "SMALLINT UNSIGNED"),
    _to("MEDIUMINT", "wider", "INT"),
    _to("MEDIUMINT", "wider", "BIGINT"),
    *_no("MEDIUMINT", "narrower", "SMALLINT"),
    *_no("MEDIUMINT", "another", "VARCHAR(64)"),
    _to("MEDIUMINT", "unsigned", "MEDIUMINT UNSIGNED"),
    _to("INT", "wider", "BIGINT"),
    _to("INT", "wider", "DECIMAL(12,2)", Decimal("-2147483648.00")),
    _to("INT", "wider", "DOUBLE", -2147483648.0),
    _to("INT", "narrower", "MEDIUMINT"),
    *_no("INT", "narrower", "SMALLINT"),
    *_no("INT", "another", "FLOAT", "VARCHAR(64)"),
    _to("INT", "unsigned", "INT UNSIGNED"),
    _to("BIGINT", "wider", "DECIMAL(19,0)", Decimal(-(2**63))),
    *_no("BIGINT", "narrower", "INT"),
    *_no("BIGINT", "another", "DOUBLE", "VARCHAR(64)"),
    _to("BIGINT", "unsigned", "BIGINT UNSIGNED", Decimal(-(2**63))),
    _to("TINYINT UNSIGNED", "wider", "SMALLINT UNSIGNED"),
    _to("TINYINT UNSIGNED", "wider", "SMALLINT"),
    *_no("TINYINT UNSIGNED", "another", "VARCHAR(64)"),
    *_no("TINYINT UNSIGNED", "unsigned", "TINYINT"),
    _to("INT UNSIGNED", "wider", "BIGINT UNSIGNED", Decimal(2**32 - 1)),
    _to("INT UNSIGNED", "wider", "BIGINT"),
    *_no("INT UNSIGNED", "narrower", "SMALLINT UNSIGNED"),
    *_no("INT UNSIGNED", "another", "VARCHAR(64)"),
    *_no("INT UNSIGNED", "unsigned", "INT"),
    _to("BIGINT UNSIGNED", "wider", "DECIMAL(22,2)", Decimal("18446744073709551615.00")),
    _to("BIGINT UNSIGNED", "wider", "DECIMAL(20,0)"),
    *_no("BIGINT UNSIGNED", "narrower", "INT UNSIGNED"),
    *_no("BIGINT UNSIGNED", "another", "VARCHAR(64)"),
    *_no("BIGINT UNSIGNED", "unsigned", "BIGINT"),
    _to("DECIMAL(10,2)", "wider", "DECIMAL(12,2)"),
    _to("DECIMAL(10,2)", "wider", "DECIMAL(14,4)", Decimal("-99999999.9900")),
    *_no("DECIMAL(10,2)", "narrower", "DECIMAL(3,0)"),
    *_no("DECIMAL(10,2)", "another", "DOUBLE", "VARCHAR(64)"),
    _to("DECIMAL(10,2)", "unsigned", "DECIMAL(10,2) UNSIGNED"),
    _to("FLOAT", "wider", "DOUBLE"),
    *_no("FLOAT", "narrower", "TINYINT"),
    *_no("FLOAT", "another", "DECIMAL(14,4)"),
    *_no("DOUBLE", "narrower", "FLOAT"),
    *_no("DOUBLE", "another", "DECIMAL(14,4)"),
    _to("BIT(1)", "wider", "TINYINT", 1),
    _to("BIT(1)", "wider", "INT", 1),
    *_no("BIT(1)", "another", "VARCHAR(64)"),
    _to("VARCHAR(64)", "wider", "MEDIUMTEXT"),
    _to("VARCHAR(64)", "narrower", "VARCHAR(10)"),
    _to("VARCHAR(64)", "narrower", "ENUM"),
    *_no("VARCHAR(64)", "another", "INT", "BLOB"),
    _to("VARCHAR(64)", "charset", "VARCHAR(64)"),
    _to("JSON", "wider", "MEDIUMTEXT"),
    *_no("JSON", "another", "BLOB"),
    _to("ENUM", "wider", "VARCHAR(64)"),
    *_no("ENUM", "another", "INT"),
    _to("ENUM", "members", "ENUM"),
    _to("SET", "wider", "VARCHAR(64)"),
    *_no("SET", "another", "BIGINT"),
    _to("SET", "members", "SET"),
    _to("VARBINARY(16)", "wider", "BLOB"),
    *_no("VARBINARY(16)", "another", "VARCHAR(64)"),
    _to("DATE", "wider", "DATETIME", local(1969, 12, 31)),
    _to("DATE", "wider", "DATETIME(6)", local(1969, 12, 31)),
    *_no("DATE", "another", "TIMESTAMP", "VARCHAR(64)"),
    _to("DATETIME(3)", "wider", "DATETIME(6)"),
    *_no("DATETIME(3)", "narrower", "DATETIME", "DATE"),
    *_no("DATETIME(3)", "another", "TIMESTAMP", "VARCHAR(64)"),
    _to("TIMESTAMP", "wider", "TIMESTAMP(6)"),
    *_no("TIMESTAMP(6)", "narrower", "TIMESTAMP"),
    *_no("TIMESTAMP", "another", "DATETIME", "VARCHAR(64)"),
    _to("TIME", "wider", "TIME(3)", "-838:59:59.000"),
    _to("TIME", "wider", "VARCHAR(64)"),
    *_no("TIME(3)", "narrower", "TIME"),
    *_no("TIME", "another", "INT"),
    _to("YEAR", "wider", "INT"),
    _to("YEAR", "wider", "BIGINT"),
    *_no("YEAR", "narrower", "SMALLINT"),
    *_no("YEAR", "another", "DATE"),
]
TYPES = list(dict.fromkeys(cell.source for cell in CELLS))
_COLUMNS: Sequence[tuple[str, Sequence[Change]]] = [
    ("wider", ["wider"]),
    ("narrower", ["narrower"]),
    ("another", ["another"]),
    ("unsigned or not, members, charset", ["unsigned", "members", "charset"]),
]


def render() -> str:
    """The matrix as docs/capture.md has it."""
    heads = ["type", "comes, goes, is renamed, NULL or not", *(title for title, _ in _COLUMNS), "a value that fits not"]
    lines = [_line(heads), _line(["---"] * len(heads))]
    for kind in TYPES:
        changed = [_outcomes([c for c in CELLS if c.source == kind and c.change in kinds]) for _, kinds in _COLUMNS]
        lines.append(_line([kind, "applied", *changed, "quarantined" if kind in MISFITS else "there is none"]))
    return "\n".join(lines)


def _line(parts: Sequence[str]) -> str:
    return f"| {' | '.join(parts)} |"


def _outcomes(cells: Sequence[Cell]) -> str:
    by_outcome = defaultdict(list)
    for cell in cells:
        by_outcome[cell.outcome].append(_name_of(cell))
    return "; ".join(f"{outcome}: {', '.join(names)}" for outcome, names in by_outcome.items()) or "-"


def _name_of(cell: Cell) -> str:
    return cell.change if cell.to == cell.source else cell.to
