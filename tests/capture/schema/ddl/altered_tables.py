"""Tables, what they hold, and statements on them, made up at random, with what a server makes of them."""

from __future__ import annotations

import random
import re
import struct
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pymysql

from tidemark.capture.schema.column_form import ColumnForm, TableForm
from tidemark.capture.schema.ddl.statement import statement_effects
from tidemark.capture.schema.ddl.unlogged_row_effects import ColumnsSet, Unproven

if TYPE_CHECKING:
    from pymysql.cursors import Cursor

DATABASE: Final = "altered"
STRICT: Final = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"
MODES: Final = (STRICT, "", "NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,ALLOW_INVALID_DATES")
_COLUMNS: Final = "CREATE TABLE t (id INT PRIMARY KEY, v {}, w INT DEFAULT 1"
TABLES: Final = {
    "plain": f"{_COLUMNS}) CHARACTER SET {{}}",
    "partitioned": f"{_COLUMNS}) CHARACTER SET {{}} PARTITION BY HASH(id) PARTITIONS 3",
    "with a foreign key": f"{_COLUMNS}, FOREIGN KEY (w) REFERENCES p (id)) CHARACTER SET {{}}",
}
TYPES: Final = {
    "TINYINT": ("0", "-128", "127"),
    "INT": ("0", "-5", "2147483647"),
    "INT UNSIGNED": ("0", "4294967295"),
    "BIGINT": ("1", "-9223372036854775808"),
    "BOOL": ("0", "1", "2"),
    "DECIMAL(10,2)": ("1.25", "-99999999.99"),
    "DECIMAL(12,4)": ("1.2549", "-5"),
    "FLOAT": ("0.1", "16777217"),
    "DOUBLE": ("0.1", "1e15"),
    "DOUBLE(10,4)": ("1.2345", "-7"),
    "CHAR(5)": ("'ab'", "'ä b'", "''"),
    "CHAR(12)": ("'ab'", "'new'"),
    "VARCHAR(5)": ("'abc  '", "'PAID'", "''"),
    "VARCHAR(20)": ("'abc  '", "'paid'", "'\U0001f389'", "'a long text, so'"),
    "TINYTEXT": ("'x'", "'3'"),
    "TEXT": ("'abcdefgh'", "'2024-02-29'"),
    "BINARY(4)": ("'abcd'", "'ab'"),
    "VARBINARY(8)": ("'abcd'", "''"),
    "BLOB": ("'abcd'",),
    "ENUM('new','paid')": ("'new'", "'paid'"),
    "ENUM('new','paid','old')": ("'new'", "'old'"),
    "ENUM('New','Paid')": ("'New'",),
    "SET('a','b')": ("'a,b'", "''"),
    "SET('a','b','c')": ("'a,c'",),
    "DATE": ("'2024-02-29'", "'1999-12-31'"),
    "DATETIME": ("'2024-02-29 10:00:00'",),
    "DATETIME(6)": ("'2024-02-29 23:59:59.999999'",),
    "TIME": ("'-12:00:01'", "'838:59:59'"),
    "TIME(3)": ("'00:00:00.050'",),
    "YEAR": ("2024", "1901"),
    "BIT(1)": ("b'1'", "b'0'"),
}
DEFAULTS: Final = (
    "1", "0", "-1", "300", "1.6", "'1.5'", "1.235", "'ab  '", "'paid'", "'a\\nb'", "'it''s'", "'\U0001f389'", "'ä'",
    "b'1'", "TRUE", "NULL", "(1 + 1)", "CURRENT_TIMESTAMP", "'2026-03-01'", "'2026-03-01 10:00:00'", "'2024-02-30'",
    "'a rather long text for a default'", "'/*!50100 x */'", "1e3", "'NULL'", "''",
)  # fmt: skip
_DECLARED: Final = """
    SELECT column_name, column_type, is_nullable, character_set_name, extra, character_maximum_length
    FROM information_schema.columns WHERE table_schema = %s AND table_name = 't'
"""
_OTHERS: Final = (
    "DROP COLUMN IF EXISTS nope",
    "DROP v",
    "CONVERT TO CHARACTER SET utf8mb4",
    "CONVERT TO CHARACTER SET latin1",
    "FORCE",
    "ADD INDEX (w)",
    "ADD UNIQUE (v)",
    "ENGINE=InnoDB",
    "CHARACTER SET latin1",
    "COMMENT 'x, DROP v'",
    "ALTER v SET DEFAULT NULL",
    "ADD PRIMARY KEY (v)",
    "MODIFY id BIGINT NOT NULL AUTO_INCREMENT",
    "MODIFY IF EXISTS v INT",
    "RENAME COLUMN v TO x",
)
_PRINTED: Final = re.compile(r"(?P<name>[a-z]+)(\((?P<sizes>[^)]*)\))?(?P<more>( unsigned| zerofill)*)")


@dataclass(frozen=True)
class Trial:
    """A table of that kind with its rows, and a statement on it in a session of that mode."""

    table: str
    rows: tuple[str, ...]
    mode: str
    sql: str

    @property
    def inserts(self) -> list[str]:
        return [f"INSERT INTO t VALUES {row}" for row in self.rows]  # noqa: S608 - made here

    def __str__(self) -> str:
        return f"{self.table}; {', '.join(self.rows)}; {self.mode or 'not strict'}; {self.sql}"


def trial(seed: int, mode: str, kind: str) -> Trial:
    """Mostly a column's new definition, or a new column's."""
    chance = random.Random(f"{seed} {mode} {kind}")
    old, charset = chance.choice(list(TYPES)), chance.choice(["utf8mb4", "utf8mb4", "latin1"])
    null = chance.choice(["", "", " NOT NULL"])
    values = [value for value in TYPES[old] if charset == "utf8mb4" or value != "'\U0001f389'"]
    values += [] if null else ["NULL"]
    rows = tuple(f"({number}, {value}, 1)" for number, value in enumerate(values, 1))
    clauses = ", ".join(_clause(chance, old) for _ in range(chance.choice([1, 1, 1, 2])))
    prefix = chance.choice([""] * 9 + ["SET STATEMENT lock_wait_timeout=50 FOR "])
    return Trial(TABLES[kind].format(old + null, charset), rows, mode, f"{prefix}ALTER TABLE t {clauses}")


def _clause(chance: random.Random, old: str) -> str:
    new, column = chance.choice([old, *TYPES]), chance.choice(["c", "d"])
    null, default = (
        chance.choice(["", "", " NOT NULL", " NULL"]),
        chance.choice(["", f" DEFAULT {chance.choice(DEFAULTS)}"]),
    )
    characters = chance.choice([""] * 8 + [" CHARACTER SET latin1", " COLLATE utf8mb4_bin"])
    missing = chance.choice(["", "", " IF NOT EXISTS"])
    return chance.choice(
        [
            f"MODIFY v {new}{characters}{null}{default}",
            f"MODIFY v {new}{null}",
            f"CHANGE v V {new}{null}{default}",
            f"ADD COLUMN{missing} {column} {new}{characters}{null}{default}",
            f"ADD COLUMN{missing} {column} {new}{null}{default} AFTER id",
            f"ADD{missing} v {new}{null}{default}",
            f"DROP v, ADD v {new}{null}{default}",
            chance.choice(_OTHERS),
        ]
    )


def forms(cursor: Cursor) -> TableForm:
    """How the server says that the table is declared."""
    cursor.execute(_DECLARED, (DATABASE,))
    return {str(name).lower(): _form(*rest) for name, *rest in cursor.fetchall()}


def _form(printed: str, null: str, charset: str | None, extra: str, characters: int | None) -> ColumnForm | None:
    match = _PRINTED.match(printed)
    assert match is not None
    name, sizes = match["name"], match["sizes"] or ""
    listed = {"typeName": f"{name}{match['more']}".upper(), "optional": null == "YES", "charsetName": charset}
    if name in {"enum", "set"}:
        listed["enumValues"] = sizes.split(",")
    elif sizes and not name.endswith("int"):
        listed |= dict(zip(("length", "scale"), map(int, sizes.split(",")), strict=False))
    elif name in {"char", "varchar", "binary", "varbinary"}:
        listed["length"] = characters
    return ColumnForm.of({**listed, "autoIncremented": "auto_increment" in extra})


def content(cursor: Cursor) -> dict[int, dict[str, Any]]:
    """Each key's row, columns in small letters."""
    cursor.execute("SELECT * FROM t")
    names = [str(column[0]).lower() for column in cursor.description]
    return {row[names.index("id")]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}


def tried(cursor: Cursor, made: Trial) -> str | None:
    """`refused` by the server, `held`, `known` where the effect is the server's; None where it is not."""
    for statement in ("DROP TABLE IF EXISTS t", made.table, *made.inserts):
        cursor.execute(statement)
    before, declared = content(cursor), forms(cursor)
    cursor.execute("SET SESSION sql_mode = %s", (made.mode,))
    try:
        cursor.execute(made.sql)
    except pymysql.err.MySQLError:
        return "refused"
    finally:
        cursor.execute("SET SESSION sql_mode = %s", (STRICT,))
    after, altered = content(cursor), forms(cursor)
    effects = statement_effects(made.sql, DATABASE, lambda _: declared, lambda _: altered)
    if any(isinstance(effect, Unproven) for effect in effects):
        return "held"
    values = {
        name.lower(): value
        for effect in effects
        if isinstance(effect, ColumnsSet)
        for name, value in effect.values.items()
    }
    expected = {key: {**row, **values} for key, row in before.items()}
    same = expected.keys() == after.keys() and all(
        _is_same(expected[key].get(name), value, altered.get(name))
        for key, row in after.items()
        for name, value in row.items()
    )
    return "known" if same else None


def _is_same(expected: Any, stored: Any, form: ColumnForm | None) -> bool:
    """Whether the lake's value is the server's: numbers count, not how they are printed."""
    if expected is None or stored is None:
        return expected is stored
    if isinstance(stored, bytes) and isinstance(expected, str):
        stored = str(int.from_bytes(stored, "big"))
    if isinstance(stored, int | Decimal):
        return Decimal(expected) == Decimal(stored)
    if isinstance(stored, float):
        is_single = form is not None and form.kind.word == "FLOAT"
        return float(expected) == stored or (
            (is_single or isinstance(expected, float)) and struct.pack("f", float(expected)) == struct.pack("f", stored)
        )
    return str(stored) in {str(expected), f"{expected} 00:00:00"}
